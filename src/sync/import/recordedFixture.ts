import { readFileSync } from 'node:fs'
import { decodeBlock } from '../../chain/eth/block.js'
import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { NETWORKS, type Network } from '../../chain/eth/genesis.js'
import { decodeReceipt, encodeReceipt } from '../../chain/eth/receipt.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { formatData, formatQuantity, parseHex } from '../../lib/hex.js'
import type { ChainRecording, FirstBlock } from '../../store/rows/chainSource.js'
import { RECORDED_STATE } from '../sparse/recordedState.js'
import type { UnexecutedBlock } from '../unexecutedBlock.js'

/** Name of the file of a fixture directory that `cairn record` writes beside genesis.json and chain.rlp. */
export const FIXTURE_MANIFEST = 'fixture.json'

/** Formats of manifests: from 2 on, the state may be in a file of its own, which earlier versions do not know. */
export const FIXTURE_FORMATS = [1, 2] as const

/** What the manifest of a recorded fixture says. Only `verified`, `first`, `network` and `state` change how
 *  it is imported. */
export interface FixtureManifest extends ChainRecording {
  format: number
  /** Program that wrote it. */
  recordedWith: string
  /** Name and version that the node reports. */
  client: string
  chainId: string
  /** The built-in network whose rules the chain has; default: those of genesis.json. */
  network?: Network
  /** Numbers of the recorded blocks, both inclusive. */
  blocks: { from: number; to: number }
  headHash: string
  /** Checks that an import leaves out. */
  unchecked: string[]
  /** Extent of the state before the recorded blocks: all accounts; what the blocks need, proved by trie nodes in a file
   *  of its own; or unproved accounts, those that the blocks touch and those that the node names. */
  state: 'complete' | 'proved' | 'touched'
}

/** Reads the recording of a manifest, and its network. @param statePath the file with its proved state, if there is one
 *  @throws UsageError when it cannot be read or is not a manifest, and for proved state without its file */
export function readFixtureManifest(
  path: string,
  statePath: string | undefined,
): { recording: ChainRecording; network?: Network } {
  try {
    const { format, verified, first, state, network } = JSON.parse(
      readFileSync(path, 'utf8'),
    ) as Partial<FixtureManifest>
    if (!FIXTURE_FORMATS.some((known) => known === format))
      throw new Error(`format: expected ${FIXTURE_FORMATS.join(' or ')}, got ${JSON.stringify(format)}`)
    if (state === 'proved' && statePath === undefined)
      throw new Error(`state: "proved" needs ${RECORDED_STATE} beside it, which is missing`)
    if (state !== 'proved' && statePath !== undefined)
      throw new Error(`state: expected "proved" because of ${RECORDED_STATE}, got ${JSON.stringify(state)}`)
    if (state === 'proved' && !first) throw new Error('first: expected the block before the recorded ones, got none')
    if (typeof verified !== 'boolean')
      throw new Error(`verified: expected true or false, got ${JSON.stringify(verified)}`)
    if (network !== undefined && !NETWORKS.includes(network))
      throw new Error(`network: expected one of ${NETWORKS.join(', ')}, got ${JSON.stringify(network)}`)
    if (first) decodeFirstBlock(first)
    return { recording: { verified, ...(first && { first }) }, network }
  } catch (cause) {
    throw new UsageError(`${path}: ${messageOf(cause)}`, { cause })
  }
}

/** Decodes the block of a recording whose parent state is not available. Without `spec`, its hash is that of the whole
 *  header. @throws DecodeError, and Error for text that is not hex */
export function decodeFirstBlock({ block, receipts, totalDifficulty }: FirstBlock, spec?: ChainSpec): UnexecutedBlock {
  return {
    block: decodeBlock(parseHex(block), undefined, familyOf(spec)),
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
