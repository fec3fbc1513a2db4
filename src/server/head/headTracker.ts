import type { CommitWatch } from '../../store/commitWatch.js'
import type { ChainReader } from '../../store/rows/types.js'

/** The newest block that a server answers from, and the requests that wait for a later one. */
export interface HeadTracker {
  /** Number of the newest block, at least that of the start of this event-loop turn; undefined if the chain is empty or
   *  the database cannot be read. Reads that begin later, in any thread, see this block unless a reorg removes it. */
  number(): number | undefined
  /** The same in decimal, for the `Cairn-Head` header. */
  text(): string | undefined
  /** Calls `done` once: with true, at once or as soon as the head has reached `number`; with false after the longest
   *  wait. */
  whenReached(number: number, done: (isReached: boolean) => void): void
  /** Drops the waiting requests. */
  close(): void
}

/** How often the database is polled for commits while requests wait: 1.3 µs each, however many wait. */
const LOOK_MS = 3

/** Requests woken in one event-loop turn: about 1 ms of small requests. */
const MAX_WOKEN = 32

interface Waiter {
  readonly number: number
  readonly untilMs: number
  readonly done: (isReached: boolean) => void
}

/** The head of the main thread's connection. `waitMs` is the longest wait; 0: none. */
export function createHeadTracker(
  parts: { chain: Pick<ChainReader, 'head'>; watch: Pick<CommitWatch, 'recentVersion'> },
  waitMs: number,
): HeadTracker {
  const { chain, watch } = parts
  let seen: number | undefined
  let head: number | undefined
  let headText: string | undefined
  const look = () => {
    try {
      const version = watch.recentVersion()
      if (version !== undefined && version === seen) return
      head = chain.head()
      headText = head === undefined ? undefined : String(head)
      seen = version
    } catch {
      // `/health` reports why the database cannot be read.
      head = undefined
      headText = undefined
      seen = undefined
    }
  }
  const hasReached = (number: number) => head !== undefined && head >= number

  /** Ordered by the end of their wait, which is equally long for all. */
  let waiting: Waiter[] = []
  let timer: NodeJS.Timeout | undefined
  let woken: number | undefined
  const wake = () => {
    timer = undefined
    look()
    const nowMs = performance.now()
    const isDue = ({ number, untilMs }: Waiter) => untilMs <= nowMs || hasReached(number)
    // Most checks find the same head and no due request.
    if (head !== woken || isDue(waiting[0])) {
      const due = waiting.filter(isDue).slice(0, MAX_WOKEN)
      if (due.length < MAX_WOKEN) woken = head
      const left = new Set(due)
      waiting = waiting.filter((waiter) => !left.has(waiter))
      for (const { number, done } of due) done(hasReached(number))
    }
    plan()
  }
  const plan = () => {
    if (waiting.length > 0) timer ??= setTimeout(wake, LOOK_MS)
  }
  return {
    number() {
      look()
      return head
    },
    text() {
      look()
      return headText
    },
    whenReached(number, done) {
      look()
      if (hasReached(number) || waitMs === 0) return done(hasReached(number))
      waiting.push({ number, untilMs: performance.now() + waitMs, done })
      plan()
    },
    close() {
      clearTimeout(timer)
      waiting = []
    },
  }
}
