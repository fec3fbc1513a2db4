/** Bytes of a slice, and what its last block may add. */
const SLICE_BYTES = 4_718_592

/** Memory that a stream shares with reader threads, which write slices into it. It is used again once a slice is sent:
 *  4 MB of new memory for each would make V8 collect garbage every few slices, and the system clear pages. */
export class SliceMemory {
  readonly #free: SharedArrayBuffer[] = []

  /** Returns memory that nothing else uses. What a thread may still write to after an error is not given back. */
  take(): SharedArrayBuffer {
    return this.#free.pop() ?? new SharedArrayBuffer(SLICE_BYTES)
  }

  /** Takes the memory of bytes that were sent, if they are in memory of `take`. */
  giveBack({ buffer }: Uint8Array): void {
    if (buffer instanceof SharedArrayBuffer) this.#free.push(buffer)
  }
}
