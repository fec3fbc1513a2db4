import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, UsageError } from '../lib/errors.js'
import type { Logger } from '../lib/logger.js'
import { ChangesMissed } from '../store/rows/chainFollower.js'
import type { SinkState, SinkStatus } from '../sync/sinkStatus.js'
import type { CursorFile, SinkCursor } from './cursor.js'
import type { EventReader, SinkChange } from './eventReader.js'
import { addedMessages, type MessageLimits, removedMessages, type SinkMessage } from './messages.js'
import type { SinkTransport } from './webhook.js'

/** Interval of checks for new blocks. */
const POLL_MS = 50
/** Interval of cursors that are stored without a delivery. */
const IDLE_STORE_MS = 5_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 30_000
/** Blocks behind the newest one from which on a sink catches up. */
const FAR_BLOCKS = 16

/** What a sink consists of. */
interface SinkParts {
  readonly reader: EventReader
  readonly cursors: CursorFile
  readonly transport: SinkTransport
  readonly chainId: number | bigint
  readonly limits: MessageLimits
  /** True if blocks without events are left out. */
  readonly omitsEmpty: boolean
  /** A number that changes with each commit. */
  version(): number | undefined
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Delivers events and blocks, one message at a time, in the order of the chain, each at least once. */
export class Sink {
  readonly #parts: SinkParts
  #cursor: SinkCursor
  #storedMs = 0
  #isStored = false
  #head: number | undefined
  #figures = { deliveries: 0, events: 0, failures: 0 }
  #problem: string | null = null
  #hasStopped = false

  /** Begins at the stored cursor, else at block `from`. @throws UsageError for a block above the newest one; CairnError
   *  for an invalid cursor */
  constructor(parts: SinkParts, from?: number) {
    const { reader, cursors } = parts
    this.#parts = parts
    const stored = cursors.read()
    if (stored === undefined && from !== undefined && from > (reader.head() ?? -1) + 1) {
      throw new UsageError(`--sink-from: block ${from} is above the newest block`)
    }
    this.#cursor = stored ?? reader.begin(from)
    this.#store()
  }

  status(): SinkStatus {
    const { number } = this.#cursor.delivered
    const lagBlocks = Math.max(0, (this.#head ?? number) - number)
    const state: SinkState = this.#hasStopped
      ? 'alarm'
      : this.#problem !== null
        ? 'retrying'
        : lagBlocks > FAR_BLOCKS
          ? 'catching up'
          : 'following'
    return { state, block: number < 0 ? null : number, lagBlocks, ...this.#figures, problem: this.#problem }
  }

  /** Delivers until the signal aborts. */
  async run(): Promise<void> {
    const { signal, log, cursors } = this.#parts
    try {
      await this.#deliverAll()
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ChangesMissed)) throw error
      this.#hasStopped = true
      this.#problem = `the database does not have the blocks after the last delivered one, or those that were removed, any more: stop the server, remove ${cursors.path}, and begin again with --sink-from`
      log.error({ problem: this.#problem }, 'the sink has stopped')
      await untilAborted(signal)
    }
  }

  async #deliverAll(): Promise<void> {
    const { reader, signal, version } = this.#parts
    while (!signal.aborted) {
      const seen = version() // before the read: a commit in between is read next
      this.#head = reader.head()
      const change = reader.next(this.#cursor)
      if (change !== undefined) await this.#deliver(change)
      else {
        this.#storeIfDue()
        while (version() === seen) await sleep(POLL_MS, undefined, { signal })
      }
    }
  }

  async #deliver(change: SinkChange): Promise<void> {
    const { chainId, limits, omitsEmpty } = this.#parts
    if (change.kind === 'removed') {
      // The cursor stays until all are acknowledged: after a restart they are delivered again.
      for (const message of removedMessages(chainId, change.blocks, limits)) await this.#send(message)
    } else {
      let wasSent = false
      for (const message of addedMessages(chainId, change.blocks, { limits, omitsEmpty })) {
        if (change.kind === 'added') this.#announce(message, change.cursor.removal)
        await this.#send(message)
        if (message.isComplete) this.#cursor = { ...this.#cursor, delivered: message.place }
        wasSent = true
      }
      if (!wasSent) {
        this.#cursor = change.cursor
        this.#isStored = false
        this.#storeIfDue()
        return
      }
    }
    this.#cursor = change.cursor
    this.#store()
  }

  /** Stores that the message may be delivered from now on. */
  #announce({ place }: SinkMessage, removal: number): void {
    this.#cursor = { ...this.#cursor, sent: place, removal }
    this.#store()
  }

  /** Sends a message until it is acknowledged. @throws the reason of the signal */
  async #send(message: SinkMessage): Promise<void> {
    const { transport, signal, log } = this.#parts
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, MAX_RETRY_MS)) {
      try {
        await transport.send(message, signal)
        this.#figures.deliveries++
        this.#figures.events += message.events
        if (this.#problem !== null) log.info({ block: message.place.number }, 'the receiver of the sink answers again')
        this.#problem = null
        return
      } catch (error) {
        signal.throwIfAborted()
        this.#figures.failures++
        if (this.#problem === null)
          log.warn({ error: messageOf(error), retryInMs: waitMs }, 'a delivery of the sink failed')
        this.#problem = messageOf(error)
      }
      await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal })
    }
  }

  #storeIfDue(): void {
    if (!this.#isStored && performance.now() - this.#storedMs > IDLE_STORE_MS) this.#store()
  }

  #store(): void {
    this.#parts.cursors.write(this.#cursor)
    this.#storedMs = performance.now()
    this.#isStored = true
  }

  /** Stores the cursor of blocks that had nothing to deliver. */
  close(): void {
    if (!this.#isStored) this.#store()
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
