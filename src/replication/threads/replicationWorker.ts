import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import { Thread } from '../../workers/spawn.js'
import type { ReplicationFeed, StreamReader, StreamStart } from '../http/feed.js'

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
  | { readonly kind: 'end'; readonly id: number; readonly problem: string }

/** Creates a feed whose frames are made in a thread. The first stream starts it, the end of the last one ends it. */
export function createReplicationWorker(datadir: string, log: Logger): ReplicationFeed {
  const readers = new Map<number, StreamReader>()
  let thread: Thread<ReplicationRequest, ReplicationReply> | undefined
  let exited: Promise<unknown> = Promise.resolve()
  let lastId = 0
  const ask = (request: ReplicationRequest) => thread?.post(request)
  const stop = () => {
    ask({ kind: 'stop' })
    thread = undefined
  }
  const launch = () => {
    const data: ReplicationThreadData = { datadir }
    const launched = new Thread<ReplicationRequest, ReplicationReply>(
      new URL('./replicationThread.js', import.meta.url),
      {
        data,
        onMessage: (reply) => {
          const { id } = reply
          if (reply.kind === 'end') return readers.get(id)?.end(reply.problem)
          const bytes = reply.bytes.length
          readers.get(id)?.frames(reply.bytes, () => ask({ kind: 'taken', id, bytes }))
        },
        onEnd: (error) => {
          if (thread !== launched) return
          thread = undefined
          const problem = error === undefined ? 'it exited' : messageOf(error)
          log.error({ error: problem }, 'the thread that serves replicas ended')
          for (const reader of [...readers.values()]) reader.end('the server failed to read the chain')
        },
      },
    )
    exited = launched.exited
    return launched
  }
  return {
    open(start, reader) {
      const id = ++lastId
      readers.set(id, reader)
      thread ??= launch()
      ask({ kind: 'open', id, start })
      return () => {
        if (!readers.delete(id)) return
        ask({ kind: 'close', id })
        if (readers.size === 0) stop()
      }
    },
    async close() {
      readers.clear()
      stop()
      await exited
    },
  }
}
