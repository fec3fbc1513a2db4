import { createHash } from 'node:crypto'

/** An entry with its header, written as plainly as the format says it. */
export function entry(type: number, value: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16LE(type, 0)
  head.writeUInt32LE(value.length, 2)
  return Buffer.concat([head, value])
}

/** An integer as SSZ has it, 32 bytes. */
export function littleEndian(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
}

/** SHA-256 of the parts, joined. */
export const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

/** All levels of the tree over 8,192 leaves, leaves first. */
export function fullTree(leaves: readonly (Uint8Array | undefined)[]): Buffer[][] {
  const levels = [Array.from({ length: 8192 }, (_, i) => Buffer.from(leaves[i] ?? Buffer.alloc(32)))]
  while (levels[levels.length - 1].length > 1) {
    const below = levels[levels.length - 1]
    levels.push(below.filter((_, i) => i % 2 === 0).map((left, i) => sha256(left, below[2 * i + 1])))
  }
  return levels
}

/** The siblings on the way from a leaf to the root. */
export function branchOf(levels: readonly Buffer[][], leaf: number): Buffer[] {
  return levels.slice(0, -1).map((level, depth) => level[(leaf >> depth) ^ 1])
}

/** The accumulator of up to 8,192 blocks by hashing all leaves, zeros and all. */
export function accumulatorTree(blocks: readonly { block: { hash: Uint8Array }; totalDifficulty: bigint }[]) {
  const levels = fullTree(blocks.map(({ block, totalDifficulty }) => sha256(block.hash, littleEndian(totalDifficulty))))
  const length = littleEndian(BigInt(blocks.length))
  return { levels, length, root: sha256(levels[13][0], length) }
}
