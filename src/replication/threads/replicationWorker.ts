import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import { Thread } from '../../workers/spawn.js'
import type { ReplicationFeed, StreamReader, StreamStart, StreamStop } from '../http/feed.js'

/** Start data of the thread that makes the frames of replicas. */
export interface ReplicationThreadData {
  readonly datadir: string
}

/** Requests to the thread. `taken`: the client has received this many more bytes. */
export type ReplicationRequest =
  | { readonly kind: 'open'; readonly id: number; readonly start: StreamStart }
  | { readonly kind: 'taken'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'stop' }

/** Messages of the thread. */
export type ReplicationReply =
  | { readonly kind: 'frames'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly id: number; readonly end: StreamStop }

/** A feed whose frames are made in a thread. The first stream starts it, the end of the last one ends it. */
export class ReplicationWorker implements ReplicationFeed {
  readonly #datadir: string
  readonly #log: Logger
  readonly #readers = new Map<number, StreamReader>()
  #thread: Thread<ReplicationRequest, ReplicationReply> | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #lastId = 0

  constructor(datadir: string, log: Logger) {
    this.#datadir = datadir
    this.#log = log
  }

  open(start: StreamStart, reader: StreamReader): () => void {
    const id = ++this.#lastId
    this.#readers.set(id, reader)
    this.#thread ??= this.#launch()
    this.#thread.post({ kind: 'open', id, start })
    return () => {
      if (!this.#readers.delete(id)) return
      this.#thread?.post({ kind: 'close', id })
      if (this.#readers.size === 0) this.#stop()
    }
  }

  async close(): Promise<void> {
    this.#readers.clear()
    this.#stop()
    await this.#exited
  }

  #launch(): Thread<ReplicationRequest, ReplicationReply> {
    const data: ReplicationThreadData = { datadir: this.#datadir }
    const url = new URL('./replicationThread.js', import.meta.url)
    const thread = new Thread<ReplicationRequest, ReplicationReply>(url, {
      data,
      onMessage: (reply) => this.#receive(reply),
      onEnd: (error) => {
        if (this.#thread !== thread) return // stopped
        this.#thread = undefined
        const problem = error === undefined ? 'it exited' : messageOf(error)
        this.#log.error({ error: problem }, 'the thread that serves replicas ended')
        for (const reader of [...this.#readers.values()]) {
          reader.end({ problem: 'the server failed to read the chain' })
        }
      },
    })
    this.#exited = thread.exited
    return thread
  }

  #receive(reply: ReplicationReply): void {
    const { id } = reply
    const reader = this.#readers.get(id)
    if (reply.kind === 'end') reader?.end(reply.end)
    else {
      const bytes = reply.bytes.length
      reader?.frames(reply.bytes, () => this.#thread?.post({ kind: 'taken', id, bytes }))
    }
  }

  #stop(): void {
    this.#thread?.post({ kind: 'stop' })
    this.#thread = undefined
  }
}
