import { bytesToBigInt } from '../../../lib/bytes.js'
import { DecodeError } from '../rlp.js'

/** Bytes of a word. */
export const WORD = 32

/** Returns the words of a list, 32 bytes each, whose offset is the word at `index` of ABI-encoded output.
 *  @throws DecodeError with the path `name` */
export function readWordList(output: Uint8Array, index: number, name: string): Uint8Array[] {
  const read = (at: number, what: string) => {
    if (at + WORD > output.length) throw new DecodeError(name, `expected ${what} at byte ${at} of ${output.length}`)
    return bytesToBigInt(output.subarray(at, at + WORD))
  }
  const offset = read(WORD * index, 'an offset')
  const at = offset > BigInt(output.length) ? output.length : Number(offset)
  const length = read(at, 'a length')
  if (length * BigInt(WORD) > BigInt(output.length - at - WORD)) {
    throw new DecodeError(name, `expected ${length} words from byte ${at + WORD} of ${output.length} on`)
  }
  return Array.from({ length: Number(length) }, (_, i) => output.subarray(at + WORD * (1 + i), at + WORD * (2 + i)))
}
