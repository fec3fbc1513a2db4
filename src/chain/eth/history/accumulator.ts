import { hash } from 'node:crypto'
import { bigIntToBytes } from '../../../lib/bytes.js'

const TREE_DEPTH = 13 // 2^13 = 8192 leaves

/** Returns hash_tree_root of a HeaderRecord (Portal Network, history network), 32 bytes: of a block hash, 32 bytes, and
 *  the total difficulty up to the block, 32 bytes little-endian. */
export function headerRecordRoot(blockHash: Uint8Array, totalDifficulty: Uint8Array): Uint8Array {
  return sha256Pair(blockHash, totalDifficulty)
}

/** Returns hash_tree_root of List[HeaderRecord, 8192], 32 bytes, from the roots of its records (consensus
 *  specification, SSZ, merkleization): root of a zero-padded tree, with the length mixed in. */
export function accumulatorRoot(records: readonly Uint8Array[]): Uint8Array {
  let level = records
  let zero: Uint8Array = new Uint8Array(32)
  for (let depth = 0; depth < TREE_DEPTH; depth++) {
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) next.push(sha256Pair(level[i], level[i + 1] ?? zero))
    zero = sha256Pair(zero, zero)
    level = next
  }
  const length = new Uint8Array(32)
  new DataView(length.buffer).setUint32(0, records.length, true)
  return sha256Pair(level[0], length)
}

/** Returns SHA-256 of two values of 32 bytes, one after the other: a node of an SSZ tree. */
export function sha256Pair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(64)
  both.set(left)
  both.set(right, 32)
  return hash('sha256', both, 'buffer')
}

/** Returns a uint256 as SSZ has it: 32 bytes, little-endian. */
export function encodeUint256(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32)
  bytes.set(bigIntToBytes(value).toReversed())
  return bytes
}
