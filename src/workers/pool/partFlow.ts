import { type Deadline, DeadlineExceeded } from '../../lib/deadline.js'

/** Back-pressure for results that a thread sends in parts, in shared memory: the thread blocks while the server
 *  buffers too many of them. */
export interface PartFlow {
  /** Called by the thread before it sends a part of the request's result: waits until the window has space.
   *  @throws DeadlineExceeded also when no caller waits for the result any more */
  reserve(slot: number, bytes: number, deadline: Deadline): void
  /** Reports that the client has received this many bytes. */
  release(bytes: number): void
  /** Reports that no caller waits for the result of that request any more. */
  abandon(slot: number): void
  /** Called by the thread when it starts a request. */
  reset(): void
}

/** Max bytes of one thread's parts that the server buffers. The last one may exceed it. */
export const WINDOW_BYTES = 2 ** 21

/** Longest wait before the deadline and the thread's stop flag are checked again. */
const WAIT_MS = 50

const HELD = 0
const ABANDONED = 1

/** Creates shared memory for one thread. */
export function createFlowMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
}

/** Opens the flow in `createFlowMemory` memory, for either side. */
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
