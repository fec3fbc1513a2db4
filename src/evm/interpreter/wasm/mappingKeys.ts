import { type Code, get, i32, i32s, i64, i64s, set, v128s } from '../../../wasm/assembler.js'
import { HASH_ENTRY_BYTES, HASH_SET_BITS, HASHES } from './layout.js'
import type { CoreWriter } from './writer.js'

/** Bytes of the hashes that are kept: those of mapping keys, a key and a slot. */
export const MAPPING_KEY_BYTES = 64

/** The offset of the hash in an entry. */
const HASH_AT = MAPPING_KEY_BYTES

/** Makes the entries of 64 zero bytes, whose set is the first, differ from them. */
export const NO_HASHES = [0, HASH_ENTRY_BYTES].map((offset) => ({ at: HASHES + offset, bytes: [1] }))

// Odd numbers with random bits.
const MIX = [0x9e37_79b9_7f4a_7c15n, 0xc2b2_ae3d_27d4_eb4fn]

/** Sets `entry` to the address of the first of the two entries for the 64 bytes at `from`. The key of a mapping ends in
 *  the first 32 bytes, its slot in the others: the words that are zero in most keys are left out. */
export function findKeptHashes(w: CoreWriter, entry: number, from: number): void {
  const word = (i: number): Code => i64s.load(get(from), 8 * i)
  const [first, second] = MIX.map((factor) => i64(BigInt.asIntN(64, factor)))
  const key = i64s.multiply(i64s.xor(word(2), i64s.rotateLeft(word(3), i64(29n))), first)
  const slot = i64s.multiply(i64s.xor(word(6), i64s.rotateLeft(word(7), i64(29n))), second)
  const mixed = i64s.multiply(i64s.xor(i64s.rotateLeft(key, i64(32n)), slot), first)
  const index = i32s.low(i64s.right(mixed, i64(BigInt(64 - HASH_SET_BITS))))
  w.f.put(set(entry, i32s.add(i32(HASHES), i32s.multiply(index, i32(2 * HASH_ENTRY_BYTES)))))
}

/** True if the entry, the `second` of the two or the first, has the 64 bytes at `from`. */
export function isEntryOf(entry: number, from: number, second: 0 | 1): Code {
  const offset = second * HASH_ENTRY_BYTES
  const differing = parts(HASH_AT).map((at) =>
    v128s.xor(v128s.load(get(entry), offset + at), v128s.load(get(from), at)),
  )
  return i32s.isZero(v128s.isAny(differing.reduce((x, y) => v128s.or(x, y))))
}

/** Copies the hash of the entry to the word at `to`. */
export function readHash(w: CoreWriter, { entry, second, to }: { entry: number; second: 0 | 1; to: number }): void {
  const from = second * HASH_ENTRY_BYTES + HASH_AT
  for (const at of parts(32)) w.f.put(v128s.store(get(to), at, v128s.load(get(entry), from + at)))
}

/** Replaces one of the two entries by the 64 bytes at `from` and their hash, the word at `hash`. The gas left, which is
 *  as good as chance, says which one. */
export function writeEntry(w: CoreWriter, entry: number, { from, hash }: { from: number; hash: number }): void {
  const { f } = w
  const chance = i32s.and(i32s.low(get(w.gas)), i32(1))
  f.put(set(entry, i32s.add(get(entry), i32s.multiply(chance, i32(HASH_ENTRY_BYTES)))))
  const copy = (to: number, value: Code) => f.put(v128s.store(get(entry), to, value))
  for (const at of parts(HASH_AT)) copy(at, v128s.load(get(from), at))
  for (const at of parts(32)) copy(HASH_AT + at, v128s.load(get(hash), at))
}

/** Offsets of the parts of 16 bytes of `size` bytes. */
function parts(size: number): number[] {
  return Array.from({ length: size / 16 }, (_, i) => 16 * i)
}
