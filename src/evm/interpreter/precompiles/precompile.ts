import type { Deadline } from '../../../lib/deadline.js'

/** A contract that is a part of the protocol (Yellow Paper, appendix E). */
export interface Precompile {
  /** What a call with the input costs. */
  gas(input: Uint8Array): number
  /** The output; undefined when the input is wrong, which costs all gas. `input` is a view of memory that is used again:
   *  it may be given back, but not kept. @throws DeadlineExceeded */
  run(input: Uint8Array, deadline: Deadline): Uint8Array | undefined
  /** True when it takes milliseconds however little it costs. */
  readonly isLong?: boolean
}

/** The input with zeros after it, or cut off, to have `length` bytes. */
export function fitted(input: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length)
  out.set(input.length > length ? input.subarray(0, length) : input)
  return out
}
