/** A field of a table: a scalar of 1, 2, 4 or 8 bytes, or the position of what it refers to. Undefined: absent. */
export type TableField = { readonly size: 1 | 2 | 4 | 8; readonly value: number } | { readonly to: number } | undefined

/** Writes a FlatBuffer (flatbuffers.dev, "FlatBuffer internals"), the metadata of Arrow, from its end to its start.
 *  Each write returns its position, the distance of its start from the end of the buffer. */
export class FlatBufferWriter {
  #bytes = new Uint8Array(1024)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** Writes text. */
  string(text: string): number {
    const bytes = Buffer.from(text)
    this.#align(4, bytes.length + 1)
    this.#place(1)
    this.#bytes.set(bytes, this.#place(bytes.length))
    return this.#uint32(bytes.length)
  }

  /** Writes a vector of references. */
  references(positions: readonly number[]): number {
    this.#align(4, 4 * positions.length)
    for (const position of positions.toReversed()) this.#reference(position)
    return this.#uint32(positions.length)
  }

  /** Writes a vector of structs of two 64-bit integers each. */
  pairs(pairs: readonly (readonly [number, number])[]): number {
    this.#align(8, 16 * pairs.length)
    for (const [first, second] of pairs.toReversed()) {
      this.#scalar(8, second)
      this.#scalar(8, first)
    }
    return this.#uint32(pairs.length)
  }

  /** Writes a table with fields by their number in its definition. */
  table(fields: readonly TableField[]): number {
    const end = this.#length
    const positions = fields.map((field) => {
      if (field === undefined) return 0
      if ('to' in field) return this.#reference(field.to)
      this.#align(field.size, 0)
      return this.#scalar(field.size, field.value)
    })
    this.#align(4, 0)
    const table = this.#scalar(4, 0)
    for (const position of positions.toReversed()) this.#scalar(2, position === 0 ? 0 : table - position)
    this.#scalar(2, table - end)
    const vtable = this.#scalar(2, 4 + 2 * fields.length)
    this.#view.setInt32(this.#bytes.length - table, vtable - table, true)
    return table
  }

  /** Returns the buffer with its root table. Its length is a multiple of 8. */
  finish(root: number): Uint8Array {
    this.#align(8, 4)
    this.#reference(root)
    return this.#bytes.slice(this.#bytes.length - this.#length)
  }

  #reference(position: number): number {
    this.#align(4, 0)
    return this.#scalar(4, this.#length + 4 - position)
  }

  #uint32(value: number): number {
    return this.#scalar(4, value)
  }

  #scalar(size: 1 | 2 | 4 | 8, value: number): number {
    const at = this.#place(size)
    if (size === 1) this.#view.setUint8(at, value)
    else if (size === 2) this.#view.setUint16(at, value, true)
    else if (size === 4) this.#view.setUint32(at, value, true)
    else this.#view.setBigInt64(at, BigInt(value), true)
    return this.#length
  }

  /** Pads so that the position is a multiple of `to` once `next` more bytes are written. */
  #align(to: number, next: number): void {
    const excess = (this.#length + next) % to
    if (excess > 0) this.#place(to - excess)
  }

  /** Returns the index of that many new bytes, which are zero. */
  #place(size: number): number {
    if (this.#length + size > this.#bytes.length) {
      const larger = new Uint8Array(2 * (this.#length + size))
      larger.set(this.#bytes.subarray(this.#bytes.length - this.#length), larger.length - this.#length)
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    this.#length += size
    return this.#bytes.length - this.#length
  }
}
