import { encodeBlock, transactionsRoot, unclesHash } from '../../../src/chain/eth/block.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { decodeHeader, encodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { encodeReceipt, receiptsRoot } from '../../../src/chain/eth/receipt.js'
import { decodeRlp, encodeListOf, encodeRlp, type RlpList } from '../../../src/chain/eth/rlp.js'
import type { Block, ConsensusReceipt, Transaction } from '../../../src/chain/eth/types.js'
import { seededRandom } from '../random.js'
import { signTransaction } from '../signing.js'
import { compressFrames } from '../snappyFrames.js'
import { accumulatorTree, entry, littleEndian } from './e2storeParts.js'

/** A block as an era1 file holds it. */
export interface EraBlock {
  block: Block
  receipts: ConsensusReceipt[]
  totalDifficulty: bigint
}

/** Blocks from number 100 on that follow on each other, each with one transaction more than the one before; their
 *  difficulties and states mean nothing. */
export function exampleEraBlocks(count: number, seed = 1): EraBlock[] {
  const random = seededRandom(seed)
  const blocks: EraBlock[] = []
  for (let i = 0; i < count; i++) {
    const transactions = Array.from({ length: i }, (_, nonce) => exampleTransaction(BigInt(nonce), random.bytes(32)))
    const logs = [{ address: random.bytes(20), topics: [random.bytes(32)], data: random.bytes(50) }]
    const receipts = transactions.map((_, at): ConsensusReceipt => {
      const cumulativeGasUsed = 30_000n * BigInt(at + 1)
      return { type: 0, status: undefined, root: random.bytes(32), cumulativeGasUsed, logsBloom: bloomOf(logs), logs }
    })
    const header = decodeHeader(
      encodeHeader({
        parentHash: blocks[i - 1]?.block.hash ?? random.bytes(32),
        unclesHash: unclesHash([]),
        miner: random.bytes(20),
        stateRoot: random.bytes(32),
        transactionsRoot: transactionsRoot(transactions),
        receiptsRoot: receiptsRoot(receipts),
        logsBloom: bloomOf(i === 0 ? [] : logs),
        difficulty: 1000n,
        number: 100 + i,
        gasLimit: 5_000_000n,
        gasUsed: 30_000n * BigInt(i),
        timestamp: BigInt(1000 + i),
        extraData: random.bytes(5),
        mixHash: random.bytes(32),
        nonce: random.bytes(8),
      }),
    )
    const block: Block = {
      hash: hashHeader(header),
      header,
      transactions,
      uncles: [],
      withdrawals: undefined,
      sizeBytes: 0,
    }
    block.sizeBytes = encodeBlock(block).length
    blocks.push({ block, receipts, totalDifficulty: 2n ** 70n + 1000n * BigInt(i + 1) })
  }
  return blocks
}

function exampleTransaction(nonce: bigint, privateKey: Uint8Array): Transaction {
  const input = new Uint8Array(200).fill(7)
  return signTransaction(
    { type: 0, nonce, gasPrice: 1n, gasLimit: 90_000n, to: undefined, value: 5n, input },
    privateKey,
  )
}

interface Era1Faults {
  /** Instead of the right one. */
  accumulator?: Uint8Array
  /** Whether an entry of an unknown type stands before the accumulator. */
  extraEntry?: boolean
}

/** An era1 file of the blocks, written as plainly as the format says it. */
export function buildEra1(blocks: EraBlock[], { accumulator, extraEntry }: Era1Faults = {}): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [entry(0x3265, Buffer.alloc(0))]
  const size = () => parts.reduce((sum, part) => sum + part.length, 0)
  const offsets: number[] = []
  for (const { block, receipts, totalDifficulty } of blocks) {
    const [header, ...body] = (decodeRlp(encodeBlock(block)) as RlpList).items.map((item) => (item as RlpList).raw)
    offsets.push(size())
    parts.push(entry(3, compressFrames(header)))
    parts.push(entry(4, compressFrames(encodeListOf(body))))
    parts.push(entry(5, compressFrames(encodeListOf(receipts.map(encodeReceiptItem)))))
    parts.push(entry(6, littleEndian(totalDifficulty)))
  }
  if (extraEntry) parts.push(entry(0x77, Buffer.from('anything')))
  parts.push(entry(7, accumulator ?? accumulatorTree(blocks).root))
  const start = size()
  const index = Buffer.alloc(16 + 8 * blocks.length)
  index.writeBigUInt64LE(BigInt(blocks[0].block.header.number), 0)
  for (const [i, offset] of offsets.entries()) index.writeBigInt64LE(BigInt(offset - start), 8 + 8 * i)
  index.writeBigUInt64LE(BigInt(blocks.length), 8 + 8 * blocks.length)
  parts.push(entry(0x3266, index))
  return Uint8Array.from(Buffer.concat(parts))
}

/** A typed receipt stands in the list as a byte string. */
function encodeReceiptItem(receipt: ConsensusReceipt): Uint8Array {
  const bytes = encodeReceipt(receipt)
  return receipt.type === 0 ? bytes : encodeRlp(bytes)
}
