import { randomInt } from 'node:crypto'
import { keccak256 } from '../../chain/crypto.js'
import { familyOf } from '../../chain/eth/families/families.js'
import type { Family } from '../../chain/eth/families/family.js'
import { type ChainSpec, rulesAt } from '../../chain/eth/forks/rules.js'
import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { recoverSender } from '../../chain/eth/transaction.js'
import type { Block } from '../../chain/eth/types.js'
import { verifyBodyRoots, verifyReceipts } from '../../chain/eth/verifyRoots.js'
import { equalBytes } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { BlockParts } from '../../sync/head/chainHead.js'
import { deriveReceipts } from '../../sync/unexecutedBlock.js'
import { decodeInflated, inflateMessage } from '../codec/message.js'
import type { DecodedBlock, EncodedBlock, StateMessage } from '../codec/types.js'
import { atStreamPlace } from '../errors.js'

/** A block that is consistent in itself; only its link to the head is unchecked. */
export interface VerifiedBlock {
  readonly block: Block
  readonly parts: BlockParts
  /** As in `DecodedBlock`. */
  readonly encodedState: Uint8Array
  /** With sparse state: what was added to it since the block before. */
  readonly entries?: readonly StateMessage[]
}

/** Which senders of a block are recovered from their signatures: all, or one in `SAMPLE`, chosen at random. */
export type CheckedSenders = 'all' | 'sample'

/** One in this many senders is recovered while a replica is far behind: recovering all took 60 % more processor time
 *  per block. */
const SAMPLE = 8

/** Decodes a block of a writer and makes all checks that need no database: those of `decodeInflated` (the header's
 *  hash, the order of state changes), the roots of body and receipts, bloom, gas, the hash of the access list, and the
 *  senders, which it recovers from the signatures. Nothing is executed. Appearances are trusted from the writer, as are
 *  state changes until a state root is compared.
 *  @throws InvalidMessage, InvalidBlock for the first check that fails, naming the block */
export function verifyReplicated(encoded: EncodedBlock, spec: ChainSpec): VerifiedBlock {
  try {
    return verifyInflated(encoded, inflateMessage(encoded.payload), spec)
  } catch (error) {
    throw atStreamPlace(error, () => `block ${encoded.number}`)
  }
}

/** As `verifyReplicated`, from the inflated message. */
function verifyInflated(encoded: EncodedBlock, body: Uint8Array, spec: ChainSpec): VerifiedBlock {
  const decoded = decodeInflated(encoded, body, familyOf(spec))
  verifyParts(decoded, familyOf(spec))
  return toVerified(decoded, spec)
}

/** Checks the other parts of a block against the header by the rules of its family, and the senders. A block of 99
 *  transactions takes three times as long with all senders as without. @throws InvalidBlock */
export function verifyParts(
  { block, receipts, blockAccessList, ...encoded }: DecodedBlock,
  family: Family,
  senders: CheckedSenders = 'all',
): void {
  verifyBodyRoots(block, family, encoded.encodedTransactions)
  verifyReceipts(block.header, receipts, { blockHash: block.hash, encoded: encoded.encodedReceipts })
  if (blockAccessList) verifyAccessList(block, blockAccessList)
  verifySenders(block, senders === 'all' ? 1 : SAMPLE)
}

/** Recovers every n-th sender, starting at a random one of the first n, which no writer can foresee: no root covers
 *  the senders that a message names. */
function verifySenders({ hash: blockHash, header, transactions }: Block, every: number): void {
  for (let index = every === 1 ? 0 : randomInt(every); index < transactions.length; index += every) {
    const transaction = transactions[index]
    const wrong = { blockNumber: header.number, blockHash, check: `sender of transaction ${index}` }
    let sender: Uint8Array
    try {
      sender = recoverSender(transaction)
    } catch (error) {
      throw new InvalidBlock({ ...wrong, detail: messageOf(error), cause: error })
    }
    if (equalBytes(sender, transaction.from)) continue
    throw new InvalidBlock({ ...wrong, expected: formatData(sender), actual: formatData(transaction.from) })
  }
}

/** Returns the block while another thread verifies it: as `verifyReplicated`, without `verifyParts`.
 *  @throws InvalidMessage */
export function decodeUnverified(encoded: EncodedBlock, spec: ChainSpec): VerifiedBlock {
  try {
    return takeVerified(encoded, inflateMessage(encoded.payload), spec)
  } catch (error) {
    throw atStreamPlace(error, () => `block ${encoded.number}`)
  }
}

/** Returns the block of an inflated message that another thread has verified. */
export function takeVerified(encoded: EncodedBlock, body: Uint8Array, spec: ChainSpec): VerifiedBlock {
  return toVerified(decodeInflated(encoded, body, familyOf(spec)), spec)
}

function toVerified(decoded: DecodedBlock, spec: ChainSpec): VerifiedBlock {
  const { block, totalDifficulty, changes, appearances, blockAccessList, encodedState, entries } = decoded
  const { number, timestamp, difficulty } = block.header
  const rules = rulesAt(spec, number, timestamp, totalDifficulty - difficulty)
  const receipts = deriveReceipts(block, decoded.receipts, rules)
  return { block, parts: { receipts, totalDifficulty, changes, appearances, blockAccessList }, encodedState, entries }
}

function verifyAccessList({ hash: blockHash, header }: Block, list: Uint8Array): void {
  const { number: blockNumber, blockAccessListHash } = header
  const hash = keccak256(list)
  if (blockAccessListHash && equalBytes(hash, blockAccessListHash)) return
  const actual = blockAccessListHash ? formatData(blockAccessListHash) : 'none'
  throw new InvalidBlock({
    blockNumber,
    blockHash,
    check: 'block access list hash',
    expected: formatData(hash),
    actual,
  })
}
