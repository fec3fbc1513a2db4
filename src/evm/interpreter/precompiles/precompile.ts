import type { Deadline } from '../../../lib/deadline.js'

/** A precompiled contract (Yellow Paper, appendix E). */
export interface Precompile {
  /** Gas of a call with that input. */
  gas(input: Uint8Array): number
  /** The output; undefined for invalid input, which consumes all gas. `input` is a view of reused memory: it may be
   *  returned, but not kept. @throws DeadlineExceeded */
  run(input: Uint8Array, deadline: Deadline): Uint8Array | undefined
  /** Returns why `run` refused the input, in geth's words. Absent, or undefined, if that is unknown. */
  failure?(input: Uint8Array): string | undefined
  /** True if it takes milliseconds even when it costs little gas. */
  readonly isLong?: boolean
}

/** The input, zero-padded or truncated to `length` bytes. */
export function fitted(input: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length)
  out.set(input.length > length ? input.subarray(0, length) : input)
  return out
}
