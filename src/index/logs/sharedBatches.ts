import type { Deadline } from '../../lib/deadline.js'
import type { IdRange, RowFilter } from '../../store/rows/rowFilter.js'
import type { LogJson } from './logJson.js'

/* The logs of one wide query are written by two threads, each over its own connection: the thread of the query takes
   batches of candidates from the front, one that is idle from the back, until they meet. The thread of the query never
   depends on the other one: what that does not deliver in time, it writes itself. */

/** Candidates of a query that an idle thread may write, in batches. All buffers are shared. */
export interface SharedWork {
  readonly candidates: Float64Array<SharedArrayBuffer> | IdRange
  readonly filter: RowFilter
  /** Candidates in a batch; the last one may have fewer. */
  readonly batchLogs: number
  /** The last candidate. */
  readonly lastId: number
  /** Hash of its block, 32 bytes: another thread has the same rows if it has this block. */
  readonly lastBlock: Uint8Array
  /** What is taken and delivered: `CLAIMS`, `NEWS`, `HELPER`, then `BATCH_WORDS` for each batch. */
  readonly control: Int32Array<SharedArrayBuffer>
  /** Texts of the delivered batches, one after another. It grows. V8 does not count it as garbage to collect, so the
   *  thread of the query keeps one for its next queries. */
  readonly texts: SharedArrayBuffer
}

/** Asks an idle thread to write batches of the work, if there is one. */
export type AskForHelp = (work: SharedWork) => void

/** Most text that the other thread delivers. What is longer, the thread of the query writes itself. */
const MAX_TEXT_BYTES = 33_554_432

const MAX_BATCHES = 32_767

/** How long a batch that the other thread has taken may take: some 2 ms when that thread has a core. */
const PATIENCE_MS = 500
/** Longest wait before the deadline is checked again. */
const WAIT_MS = 20

// Words of `control`. CLAIMS has the first batch that is not taken, and above 16 bits the one after the last.
const CLAIMS = 0
const NEWS = 1
const HELPER = 2
const BATCHES = 3
const BATCH_WORDS = 4
const [STATE, OFFSET, LENGTH, COUNT] = [0, 1, 2, 3]

const DELIVERED = 1
const GIVEN_UP = 2

// HELPER: absent, at work, done, or too late to begin.
const ABSENT = 0
const WORKS = 1
const DONE = 2
const TOO_LATE = 3

/** Returns memory for texts. */
export function createTexts(): SharedArrayBuffer {
  return new SharedArrayBuffer(0, { maxByteLength: MAX_TEXT_BYTES })
}

/** Returns work to share, none of it taken. Undefined with too many batches.
 *  @param from its candidates, ascending */
export function shareWork(
  from: readonly number[] | IdRange,
  work: Omit<SharedWork, 'candidates' | 'control'>,
): SharedWork | undefined {
  const isRange = 'from' in from
  const batches = Math.ceil((isRange ? from.to - from.from : from.length) / work.batchLogs)
  if (batches > MAX_BATCHES) return undefined
  const control = new Int32Array(
    new SharedArrayBuffer((BATCHES + batches * BATCH_WORDS) * Int32Array.BYTES_PER_ELEMENT),
  )
  control[CLAIMS] = batches << 16
  return { ...work, candidates: isRange ? from : shareNumbers(from), control }
}

function shareNumbers(numbers: readonly number[]): Float64Array<SharedArrayBuffer> {
  const shared = new Float64Array(new SharedArrayBuffer(numbers.length * Float64Array.BYTES_PER_ELEMENT))
  shared.set(numbers)
  return shared
}

/** The batches of shared work, for either thread. */
export class SharedBatches {
  readonly #control: Int32Array
  readonly #texts: SharedArrayBuffer
  /** Bytes of `#texts` in use. Known to the thread that delivers. */
  #used = 0

  constructor({ control, texts }: Pick<SharedWork, 'control' | 'texts'>) {
    this.#control = control
    this.#texts = texts
  }

  /** Takes the first batch that is not taken, and returns its number; undefined when all are taken. */
  takeFirst(): number | undefined {
    return this.#take((first, end) => [first, first + 1, end])
  }

  /** Takes the last batch that is not taken. */
  takeLast(): number | undefined {
    return this.#take((first, end) => [end - 1, first, end - 1])
  }

  /** Called by the other thread: false when the query has ended. */
  begin(): boolean {
    return Atomics.compareExchange(this.#control, HELPER, ABSENT, WORKS) === ABSENT
  }

  /** Called by the other thread, which has begun, when it writes no more. */
  end(): void {
    Atomics.store(this.#control, HELPER, DONE)
  }

  /** Takes all that are left, so that the other thread stops. Returns whether it is certain to write no more texts. */
  close(): boolean {
    this.#take((first, end) => [first, end, end])
    return Atomics.compareExchange(this.#control, HELPER, ABSENT, TOO_LATE) !== WORKS
  }

  /** Delivers the text of a batch that `takeLast` returned; undefined: the other thread shall write it. False if it is
   *  not delivered: it is undefined or does not fit. */
  deliver(batch: number, text: LogJson | undefined): boolean {
    const at = BATCHES + batch * BATCH_WORDS
    const fits = text !== undefined && this.#store(text.bytes)
    if (fits) {
      this.#control[at + OFFSET] = this.#used - text.bytes.length
      this.#control[at + LENGTH] = text.bytes.length
      this.#control[at + COUNT] = text.count
    }
    Atomics.store(this.#control, at + STATE, fits ? DELIVERED : GIVEN_UP)
    Atomics.add(this.#control, NEWS, 1)
    Atomics.notify(this.#control, NEWS)
    return fits
  }

  /** Waits for a batch that the other thread took. Undefined when it is given up or does not come.
   *  @throws DeadlineExceeded */
  receive(batch: number, deadline: Deadline): LogJson | undefined {
    const at = BATCHES + batch * BATCH_WORDS
    const untilMs = performance.now() + PATIENCE_MS
    for (;;) {
      const news = Atomics.load(this.#control, NEWS)
      const state = Atomics.load(this.#control, at + STATE)
      if (state === GIVEN_UP) return undefined
      if (state === DELIVERED) break
      deadline.check()
      if (performance.now() > untilMs) return undefined
      Atomics.wait(this.#control, NEWS, news, WAIT_MS)
    }
    const bytes = new Uint8Array(this.#texts, this.#control[at + OFFSET], this.#control[at + LENGTH])
    return { count: this.#control[at + COUNT], bytes }
  }

  /** `choose` returns the batch, and the bounds of what is then left. */
  #take(choose: (first: number, end: number) => readonly [number, number, number]): number | undefined {
    for (;;) {
      const claims = Atomics.load(this.#control, CLAIMS)
      const [first, end] = [claims & 0xffff, claims >>> 16]
      if (first >= end) return undefined
      const [batch, newFirst, newEnd] = choose(first, end)
      const taken = (newEnd << 16) | newFirst
      if (Atomics.compareExchange(this.#control, CLAIMS, claims, taken) === claims) return batch
    }
  }

  #store(bytes: Uint8Array): boolean {
    const end = this.#used + bytes.length
    if (end > MAX_TEXT_BYTES) return false
    if (end > this.#texts.byteLength) this.#texts.grow(Math.min(MAX_TEXT_BYTES, 2 * end))
    new Uint8Array(this.#texts).set(bytes, this.#used)
    this.#used = end
    return true
  }
}

/** Writes batches of another thread's query, from the last one, until all are taken or one cannot be delivered.
 *  @throws DeadlineExceeded; what `write` throws, after the batch is given up */
export function helpWith(work: SharedWork, deadline: Deadline, write: (batch: number) => LogJson | undefined): void {
  const shared = new SharedBatches(work)
  if (!shared.begin()) return
  try {
    let isDelivered = true
    while (isDelivered) {
      deadline.check()
      const batch = shared.takeLast()
      if (batch === undefined) return
      let text: LogJson | undefined
      try {
        text = write(batch)
      } finally {
        isDelivered = shared.deliver(batch, text)
      }
    }
  } finally {
    shared.end()
  }
}
