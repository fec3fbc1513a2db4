import { type Deadline, DeadlineExceeded } from '../../lib/deadline.js'

/** Back-pressure of results that a thread sends in parts, in shared memory: the thread blocks while the server holds enough of
 *  them. */
export interface PartFlow {
  /** Called by the thread before it sends a part of the request's result: waits until there is room. @throws DeadlineExceeded
   *  also when nobody wants the result any more */
  reserve(slot: number, bytes: number, deadline: Deadline): void
  /** That much was taken by the client. */
  release(bytes: number): void
  /** Nobody wants the result of that request any more. */
  abandon(slot: number): void
  /** Called by the thread when it begins a request. */
  reset(): void
}

/** Parts of one thread that the server may hold, in bytes. The last one may exceed it. */
export const WINDOW_BYTES = 2 ** 21

/** Longest wait without a look at the deadline and the thread's stop flag. */
const WAIT_MS = 50

const HELD = 0
const ABANDONED = 1

/** Shared memory for one thread. */
export function createFlowMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

/** The flow in `createFlowMemory` memory, for either side. */
export function openFlow(memory: SharedArrayBuffer): PartFlow {
  const state = new Int32Array(memory)
  return {
    reserve(slot, bytes, deadline) {
      for (;;) {
        deadline.check()
        if (Atomics.load(state, ABANDONED) === slot + 1) throw new DeadlineExceeded(deadline.limitMs)
        const held = Atomics.load(state, HELD)
        if (held < WINDOW_BYTES) break
        Atomics.wait(state, HELD, held, WAIT_MS)
      }
      Atomics.add(state, HELD, bytes)
    },
    release(bytes) {
      Atomics.sub(state, HELD, bytes)
      Atomics.notify(state, HELD)
    },
    abandon(slot) {
      Atomics.store(state, ABANDONED, slot + 1)
      Atomics.notify(state, HELD)
    },
    reset() {
      Atomics.store(state, HELD, 0)
      Atomics.store(state, ABANDONED, 0)
    },
  }
}
