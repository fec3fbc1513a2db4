import { readFileSync } from 'node:fs'
import { decodeBlock } from '../../chain/eth/block.js'
import { decodeReceipt, encodeReceipt } from '../../chain/eth/receipt.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { formatData, formatQuantity, parseHex } from '../../lib/hex.js'
import type { ChainRecording, FirstBlock } from '../../store/rows/chainSource.js'
import type { UnexecutedBlock } from '../unexecutedBlock.js'

/** Name of the file of a fixture directory that `cairn record` writes beside genesis.json and chain.rlp. */
export const FIXTURE_MANIFEST = 'fixture.json'

/** What the manifest of a recorded fixture says. Only `verified` and `first` change how it is imported. */
export interface FixtureManifest extends ChainRecording {
  format: 1
  /** Program that wrote it. */
  recordedWith: string
  /** Name and version that the node reports. */
  client: string
  chainId: string
  /** Numbers of the recorded blocks, both inclusive. */
  blocks: { from: number; to: number }
  headHash: string
  /** Checks that an import leaves out. */
  unchecked: string[]
  /** Extent of the state before the recorded blocks: all accounts, or those that the blocks touch and those that the
   *  node names. */
  state: 'complete' | 'touched'
}

/** Reads the recording of a manifest. @throws UsageError when it cannot be read or is not a manifest */
export function readFixtureManifest(path: string): ChainRecording {
  try {
    const { format, verified, first } = JSON.parse(readFileSync(path, 'utf8')) as Partial<FixtureManifest>
    if (format !== 1) throw new Error(`format: expected 1, got ${JSON.stringify(format)}`)
    if (typeof verified !== 'boolean')
      throw new Error(`verified: expected true or false, got ${JSON.stringify(verified)}`)
    if (first) decodeFirstBlock(first)
    return { verified, ...(first && { first }) }
  } catch (cause) {
    throw new UsageError(`${path}: ${messageOf(cause)}`, { cause })
  }
}

/** Decodes the block of a recording whose parent state is not available. @throws DecodeError, and Error for text that
 *  is not hex */
export function decodeFirstBlock({ block, receipts, totalDifficulty }: FirstBlock): UnexecutedBlock {
  return {
    block: decodeBlock(parseHex(block)),
    receipts: receipts.map((receipt, i) => decodeReceipt(parseHex(receipt), `first.receipts[${i}]`)),
    totalDifficulty: BigInt(totalDifficulty),
  }
}

/** Inverse of `decodeFirstBlock`. `rlp` is that of the block. */
export function encodeFirstBlock({ rlp, receipts, totalDifficulty }: FirstBlockParts): FirstBlock {
  return {
    block: formatData(rlp),
    receipts: receipts.map((receipt) => formatData(encodeReceipt(receipt))),
    totalDifficulty: formatQuantity(totalDifficulty),
  }
}

type FirstBlockParts = Required<Pick<UnexecutedBlock, 'receipts' | 'totalDifficulty'>> & { rlp: Uint8Array }
