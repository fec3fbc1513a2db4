/** Claims on requests assigned to a thread, in shared memory. A request queued behind another one can be withdrawn even
 *  while the thread is busy and reads no messages. */
export interface Claims {
  /** Returns a slot for a request to be assigned; undefined if all are in use. */
  offer(): number | undefined
  /** Called by the thread before it starts a request, with the time by `sharedClockMs`. False if the request was
   *  withdrawn; its slot is then free. */
  begin(slot: number, nowMs: number): boolean
  /** Marks a started request as aborted, for the thread: no caller waits for the outcome. */
  abort(slot: number): void
  /** Called by the thread: true once its request was aborted. */
  isAborted(slot: number): boolean
  /** Returns when the thread started a request; undefined if it has not. */
  begunMs(slot: number): number | undefined
  /** Withdraws a request; false if the thread has started it. */
  withdraw(slot: number): boolean
  /** Asks the thread to stop. */
  requestStop(): void
  /** Called by the thread: true once it was asked to stop. */
  stopRequested(): boolean
  /** Called by the thread before and after a step in which it must not be terminated. It checks `stopRequested`
   *  after each call, so that it exits by itself instead. */
  setUnterminable(isUnterminable: boolean): void
  /** True while the thread is in such a step. False after `requestStop` stays false: the thread starts no further
   *  one. */
  isUnterminable(): boolean
  /** Frees the slot, after the outcome has arrived or the request could not be assigned. */
  free(slot: number): void
}

const FREE = 0
const OFFERED = 1
const BEGUN = 2
const WITHDRAWN = 3
const ABORTED = 4 // started

const SLOT_BYTES = Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT

const FLAGS = 2

/** Creates shared memory for claims on at most `slots` requests of one thread, and its flags. */
export function createClaimMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * SLOT_BYTES + FLAGS * Int32Array.BYTES_PER_ELEMENT)
}

/** Opens the claims in `createClaimMemory` memory, for either side. */
export function openClaims(memory: SharedArrayBuffer): Claims {
  const slots = Math.floor(memory.byteLength / SLOT_BYTES)
  const times = new Float64Array(memory, 0, slots)
  const states = new Int32Array(memory, times.byteLength, slots)
  const flags = new Int32Array(memory, slots * SLOT_BYTES, FLAGS)
  const [STOP, UNTERMINABLE] = [0, 1]
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
    abort: (slot) => void change(slot, BEGUN, ABORTED),
    isAborted: (slot) => Atomics.load(states, slot) === ABORTED,
    begunMs(slot) {
      const state = Atomics.load(states, slot)
      return state === BEGUN || state === ABORTED ? times[slot] : undefined
    },
    withdraw: (slot) => change(slot, OFFERED, WITHDRAWN),
    requestStop: () => void Atomics.store(flags, STOP, 1),
    stopRequested: () => Atomics.load(flags, STOP) === 1,
    setUnterminable: (isUnterminable) => void Atomics.store(flags, UNTERMINABLE, isUnterminable ? 1 : 0),
    isUnterminable: () => Atomics.load(flags, UNTERMINABLE) === 1,
    free: (slot) => void Atomics.store(states, slot, FREE),
  }
}
