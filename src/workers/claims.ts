/** Claims on requests assigned to a thread, in shared memory. A request queued behind another one can be withdrawn even
 *  while the thread is busy and reads no messages. */
export interface Claims {
  /** A slot for a request to be assigned; undefined if all are taken. */
  offer(): number | undefined
  /** Called by the thread before it starts a request, with the time by `monotonicMs`. False if the request was withdrawn;
   *  its slot is then free. */
  begin(slot: number, nowMs: number): boolean
  /** When the thread started a request; undefined if it has not. */
  begunMs(slot: number): number | undefined
  /** Withdraws a request; false if the thread has started it. */
  withdraw(slot: number): boolean
  /** Asks the thread to stop. */
  requestStop(): void
  /** Called by the thread: true once it was asked to stop. */
  stopRequested(): boolean
  /** Frees the slot, after the outcome has arrived or the request could not be assigned. */
  free(slot: number): void
}

const FREE = 0
const OFFERED = 1
const BEGUN = 2
const WITHDRAWN = 3

const SLOT_BYTES = Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT

/** Shared memory for claims on at most `slots` requests of one thread, and its stop flag. */
export function createClaimMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * SLOT_BYTES + Int32Array.BYTES_PER_ELEMENT)
}

/** The claims in `createClaimMemory` memory, for either side. */
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
