/** Says of each request that was handed to a thread whether the thread has begun it, in memory that both sides see. A
 *  request that waits behind another one in its thread can so be taken back, also while that thread is busy and reads no
 *  messages. */
export interface Claims {
  /** A slot for a request that is about to be handed over; undefined when all are taken. */
  offer(): number | undefined
  /** By the thread, before it begins, with the time by `monotonicMs`: false when the request was taken back; its slot may be
   *  used again then. */
  begin(slot: number, nowMs: number): boolean
  /** When the thread has begun a request; undefined when it has not. */
  begunMs(slot: number): number | undefined
  /** Takes a request back: false when the thread has begun it. */
  withdraw(slot: number): boolean
  /** Asks the thread to end itself. */
  requestStop(): void
  /** By the thread: true once it was asked to. */
  stopRequested(): boolean
  /** Lets the slot be used again, once the outcome is there or it turned out that the request cannot be handed over. */
  free(slot: number): void
}

const FREE = 0
const OFFERED = 1
const BEGUN = 2
const WITHDRAWN = 3

const SLOT_BYTES = Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT

/** Memory for the claims on at most `slots` requests of one thread, and for whether it is to stop. */
export function createClaimMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * SLOT_BYTES + Int32Array.BYTES_PER_ELEMENT)
}

/** The claims in memory of `createClaimMemory`, for either side. */
export function openClaims(memory: SharedArrayBuffer): Claims {
  const slots = Math.floor(memory.byteLength / SLOT_BYTES)
  const times = new Float64Array(memory, 0, slots)
  const states = new Int32Array(memory, times.byteLength, slots)
  const stop = new Int32Array(memory, slots * SLOT_BYTES, 1)
  const change = (slot: number, from: number, to: number) => Atomics.compareExchange(states, slot, from, to) === from
  return {
    offer() {
      for (let slot = 0; slot < states.length; slot++) if (change(slot, FREE, OFFERED)) return slot
      return undefined
    },
    begin(slot, nowMs) {
      times[slot] = nowMs
      if (change(slot, OFFERED, BEGUN)) return true
      Atomics.store(states, slot, FREE)
      return false
    },
    begunMs: (slot) => (Atomics.load(states, slot) === BEGUN ? times[slot] : undefined),
    withdraw: (slot) => change(slot, OFFERED, WITHDRAWN),
    requestStop: () => void Atomics.store(stop, 0, 1),
    stopRequested: () => Atomics.load(stop, 0) === 1,
    free: (slot) => void Atomics.store(states, slot, FREE),
  }
}
