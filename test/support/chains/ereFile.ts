import { encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { decodeRlp, encodeListOf, encodeRlp, type RlpList } from '../../../src/chain/eth/rlp.js'
import type { ConsensusReceipt } from '../../../src/chain/eth/types.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { compressFrames } from '../snappyFrames.js'
import { accumulatorTree, branchOf, entry, fullTree, littleEndian, sha256 } from './e2storeParts.js'
import { type EraBlock, exampleEraBlocks } from './era1File.js'

/** As `exampleEraBlocks`; the blocks from index `work` on are under proof of stake, with the total difficulty of the
 *  last one before. */
export function exampleEreBlocks(count: number, work: number, seed = 1): EraBlock[] {
  const blocks: EraBlock[] = []
  for (const [i, each] of exampleEraBlocks(count, seed).entries()) {
    const { block, receipts } = each
    const parentHash = blocks[i - 1]?.block.hash ?? block.header.parentHash
    const header = { ...block.header, parentHash, ...(i >= work && { difficulty: 0n }) }
    const moved = { ...block, header, hash: hashHeader(header) }
    const { length } = encodeBlock(moved)
    const total = i < work ? each.totalDifficulty : (blocks[work - 1]?.totalDifficulty ?? 0n)
    blocks.push({ block: { ...moved, sizeBytes: length }, receipts, totalDifficulty: total })
  }
  return blocks
}

/** What a file has beside headers and bodies. */
export interface EreProfile {
  receipts?: boolean
  /** Type of the proofs; undefined: none. */
  proofs?: 0 | 1 | 2 | 3 | 4
  accumulator?: Uint8Array
}

/** An ere file of the blocks, written as plainly as the format says it. */
export function buildEre(
  blocks: EraBlock[],
  { receipts = true, proofs, accumulator }: EreProfile = {},
): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [entry(0x3265, Buffer.alloc(0))]
  const size = () => parts.reduce((sum, part) => sum + part.length, 0)
  const sections: number[][] = []
  const section = (type: number, values: readonly Uint8Array[]) => {
    const offsets: number[] = []
    for (const value of values) {
      offsets.push(size())
      parts.push(entry(type, value))
    }
    sections.push(offsets)
  }
  section(
    3,
    blocks.map(({ block }) => compressFrames(encodeHeader(block.header))),
  )
  section(
    4,
    blocks.map(({ block }) => {
      const [, ...body] = (decodeRlp(encodeBlock(block)) as RlpList).items.map((item) => (item as RlpList).raw)
      return compressFrames(encodeListOf(body))
    }),
  )
  if (receipts) {
    section(
      10,
      blocks.map((each) => compressFrames(encodeRlp(each.receipts.map(slimReceipt)))),
    )
  }
  if (proofs !== undefined) {
    section(
      11,
      exampleProofs(blocks, proofs).map((ssz) => compressFrames(encodeRlp([BigInt(proofs), ssz]))),
    )
  }
  const worked = blocks.filter(({ block }) => block.header.difficulty > 0n)
  if (worked.length > 0) {
    section(
      6,
      blocks.map(({ totalDifficulty }) => littleEndian(totalDifficulty)),
    )
    parts.push(entry(7, accumulator ?? accumulatorTree(worked).root))
  }
  const start = size()
  const numbers = [BigInt(blocks[0].block.header.number)]
  for (const i of blocks.keys()) for (const offsets of sections) numbers.push(BigInt(offsets[i] - start))
  numbers.push(BigInt(sections.length), BigInt(blocks.length))
  const index = Buffer.alloc(8 * numbers.length)
  for (const [i, number] of numbers.entries()) index.writeBigInt64LE(number, 8 * i)
  parts.push(entry(0x3267, index))
  return Uint8Array.from(Buffer.concat(parts))
}

function slimReceipt({ type, status, root, cumulativeGasUsed, logs }: ConsensusReceipt) {
  const outcome = root ?? (status === 1 ? Uint8Array.of(1) : new Uint8Array(0))
  return [BigInt(type), outcome, cumulativeGasUsed, logs.map(({ address, topics, data }) => [address, topics, data])]
}

/** SSZ of the proofs of the blocks. Leaves of the accumulator are by number modulo 8,192, so that type 0 needs blocks
 *  that begin an era. */
function exampleProofs(blocks: EraBlock[], type: 0 | 1 | 2 | 3 | 4): Buffer[] {
  if (type === 4) return blocks.map(() => Buffer.alloc(40))
  if (type === 0) {
    const { levels, length } = accumulatorTree(blocks)
    return blocks.map(({ totalDifficulty }, i) =>
      Buffer.concat([littleEndian(totalDifficulty), ...branchOf(levels, i), length]),
    )
  }
  const random = seededRandom(type)
  const beacons = blocks.map(({ block }) => beaconBlock(block.hash, type, random))
  const firstSlot = 8192 * 77 + 5
  const leaves: Buffer[] = []
  for (const [i, { root }] of beacons.entries()) leaves[5 + i] = root
  const levels = fullTree(leaves)
  const stateRoots = type === 1 ? [Buffer.from(random.bytes(32))] : []
  return beacons.map(({ root, branch }, i) => {
    const slot = Buffer.alloc(8)
    slot.writeBigUInt64LE(BigInt(firstSlot + i))
    return Buffer.concat([...branchOf(levels, 5 + i), ...stateRoots, root, ...branch, slot])
  })
}

/** The branch from a block hash to the root of an invented beacon block: block hash is field 12 of the payload, the
 *  payload field 9 of the body, the body field 4 of the block. */
function beaconBlock(hash: Uint8Array, type: 1 | 2 | 3, random: SeededRandom) {
  const branch: Buffer[] = []
  let node = Buffer.from(hash)
  for (const [field, depth] of [
    [12, type === 3 ? 5 : 4],
    [9, 4],
    [4, 3],
  ]) {
    for (let bit = 0; bit < depth; bit++) {
      const sibling = Buffer.from(random.bytes(32))
      branch.push(sibling)
      node = (field >> bit) & 1 ? sha256(sibling, node) : sha256(node, sibling)
    }
  }
  return { root: node, branch }
}
