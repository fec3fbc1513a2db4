import { decodeWithdrawals, hashOf } from '../../chain/eth/block.js'
import { addedType } from '../../chain/eth/families/addedTypes.js'
import type { Family } from '../../chain/eth/families/family.js'
import { decodeHeader, encodeHeader } from '../../chain/eth/header.js'
import { decodeReceipt, encodeReceipt } from '../../chain/eth/receipt.js'
import { DecodeError, listLength } from '../../chain/eth/rlp.js'
import { headerLength } from '../../chain/eth/rlpBytes.js'
import { decodeSignedTransaction, encodeTransaction } from '../../chain/eth/transaction.js'
import type { Block, Transaction } from '../../chain/eth/types.js'
import { encodeWithdrawals } from '../../chain/eth/withdrawals.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { InvalidMessage } from '../errors.js'
import { deflatePayload, inflatePayload } from './deflate.js'
import { MessageReader, MessageWriter } from './messageBytes.js'
import { readState, writeState } from './messageState.js'
import { readStateEntries, SPARSE_VERSION, writeStateEntries } from './stateMessage.js'
import type { DecodedBlock, EncodedBlock, ReplicatedBlock } from './types.js'

/* A message is a version byte and the raw deflate (RFC 1951) of these parts in sequence:
 *
 *   header: RLP
 *   total difficulty
 *   parts: a byte of flags
 *   transactions: count; each: sender, EIP-2718 bytes
 *   receipts, one for each transaction: EIP-2718 bytes
 *   uncles: count; each: RLP of the header
 *   withdrawals, if flagged: RLP of the list
 *   state changes and appearances, if flagged: see messageState.ts
 *   access list, if flagged: RLP (EIP-7928)
 *   additions to sparse state, if flagged: see stateMessage.ts
 *
 * Hashes and the size of the block are computed from the bytes. */

/** The first byte of every message of a block without sparse state. */
export const MESSAGE_VERSION = 1

const WITHDRAWALS = 1
const CHANGES = 2
const APPEARANCES = 4
const ACCESS_LIST = 8
const ENTRIES = 16

/** Encodes a block as a message. @throws RangeError when its changes name an account or a slot twice */
export function encodeReplicatedBlock(replicated: ReplicatedBlock): EncodedBlock {
  const { hash, header } = replicated.block
  const version = replicated.entries === undefined ? MESSAGE_VERSION : SPARSE_VERSION
  const payload = deflatePayload(version, encodeBody(replicated))
  return { number: header.number, hash, parentHash: header.parentHash, payload }
}

/** Encodes a block before compression. Equal blocks have equal bytes. */
export function encodeBody(replicated: ReplicatedBlock): Buffer {
  const { block, receipts, totalDifficulty, changes, appearances, blockAccessList, entries } = replicated
  const writer = new MessageWriter()
  const { header, transactions, uncles, withdrawals } = block
  writer.bytes(encodeHeader(header))
  writer.uint(totalDifficulty)
  writer.byte(
    (withdrawals === undefined ? 0 : WITHDRAWALS) |
      (changes === undefined ? 0 : CHANGES) |
      (appearances === undefined ? 0 : APPEARANCES) |
      (blockAccessList === undefined ? 0 : ACCESS_LIST) |
      (entries === undefined ? 0 : ENTRIES),
  )
  writer.integer(transactions.length)
  for (const transaction of transactions) {
    writer.raw(transaction.from)
    writer.bytes(encodeTransaction(transaction))
  }
  for (const receipt of receipts) writer.bytes(encodeReceipt(receipt))
  writer.integer(uncles.length)
  for (const uncle of uncles) writer.bytes(encodeHeader(uncle))
  if (withdrawals !== undefined) writer.bytes(encodeWithdrawals(withdrawals))
  writeState(writer, changes, appearances)
  if (blockAccessList !== undefined) writer.bytes(blockAccessList)
  if (entries !== undefined) writeStateEntries(writer, entries)
  return writer.written()
}

/** Decodes the block of an inflated message. Computes its hash from the header and compares it; the caller checks that
 *  the header commits to the other parts. Senders are not recovered from signatures. Byte fields are views into one
 *  buffer.
 *  @throws InvalidMessage unless the bytes are those that `encodeReplicatedBlock` returns, up to compression, and
 *    for a block that is not the named one */
export function decodeInflated(
  { number, hash, parentHash, payload }: EncodedBlock,
  body: Uint8Array,
  family?: Family,
): DecodedBlock {
  const decoded = decodeBody(body, family)
  const version = decoded.entries === undefined ? MESSAGE_VERSION : SPARSE_VERSION
  if (payload[0] !== version) throw new InvalidMessage('version', `expected ${version}, got ${payload[0]}`)
  const { block } = decoded
  requireEqual('hash', hash, block.hash)
  requireEqual('parent hash', parentHash, block.header.parentHash)
  if (block.header.number !== number) {
    throw new InvalidMessage('number', `expected block ${number}, got ${block.header.number}`)
  }
  return decoded
}

/** Inflates the message of a payload. @throws InvalidMessage */
export function inflateMessage(payload: Uint8Array): Uint8Array {
  return inflatePayload(payload, [MESSAGE_VERSION, SPARSE_VERSION])
}

function decodeBody(body: Uint8Array, family: Family | undefined): DecodedBlock {
  try {
    return readBody(new MessageReader(body), family)
  } catch (error) {
    if (error instanceof DecodeError) throw new InvalidMessage(error.path, error.problem, { cause: error })
    throw error
  }
}

function readBody(input: MessageReader, family: Family | undefined): DecodedBlock {
  const encodedHeader = input.bytes('header')
  const header = decodeHeader(encodedHeader)
  const totalDifficulty = input.uint(32, 'totalDifficulty')
  const flags = input.byte('parts')
  if (flags > (WITHDRAWALS | CHANGES | APPEARANCES | ACCESS_LIST | ENTRIES)) {
    throw new InvalidMessage('parts', `expected known flags, got 0x${flags.toString(16)}`)
  }
  const { transactions, encodedTransactions } = readTransactions(input)
  const encodedReceipts = encodedTransactions.map((_, index) => input.bytes(`receipts[${index}]`))
  const encodedUncles = readList(input, 'uncles')
  const encodedWithdrawals = flags & WITHDRAWALS ? input.bytes('withdrawals') : undefined
  const encodedState = input.rest()
  const state = readState(input, {
    withChanges: (flags & CHANGES) !== 0,
    withAppearances: (flags & APPEARANCES) !== 0,
    transactions: transactions.length,
  })
  const blockAccessList = flags & ACCESS_LIST ? input.bytes('blockAccessList') : undefined
  const entries = flags & ENTRIES ? readStateEntries(input) : undefined
  input.end()
  const block: Block = {
    hash: hashOf(header, encodedHeader, family),
    header,
    transactions,
    uncles: encodedUncles.map((bytes, index) => decodeHeader(bytes, `uncles[${index}]`)),
    withdrawals: encodedWithdrawals && decodeWithdrawals(encodedWithdrawals),
    sizeBytes: sizeOf(encodedHeader, encodedTransactions, encodedUncles, encodedWithdrawals),
  }
  const receipts = encodedReceipts.map((bytes, index) => {
    const receipt = decodeReceipt(bytes, `receipts[${index}]`)
    if (receipt.type === transactions[index].type) return receipt
    throw new InvalidMessage(`receipts[${index}].type`, `expected ${transactions[index].type}, got ${receipt.type}`)
  })
  const encoded = { encodedTransactions, encodedReceipts, encodedState }
  return { block, receipts, totalDifficulty, ...state, blockAccessList, entries, ...encoded }
}

function readTransactions(input: MessageReader) {
  const transactions: Transaction[] = []
  const encodedTransactions: Uint8Array[] = []
  const count = input.count('transactions', 21)
  for (let index = 0; index < count; index++) {
    const path = `transactions[${index}]`
    const from = input.raw(20, path)
    const bytes = input.bytes(path)
    const transaction = decodeSignedTransaction(bytes, path) as Transaction
    requireSender(transaction, from, path)
    transaction.from = from
    transactions.push(transaction)
    encodedTransactions.push(bytes)
  }
  return { transactions, encodedTransactions }
}

/** Transactions without a signature name their sender. */
function requireSender({ type, from }: Transaction, named: Uint8Array, path: string): void {
  if (addedType(type) !== undefined) requireEqual(`${path}.from`, from, named)
}

function readList(input: MessageReader, part: string): Uint8Array[] {
  return Array.from({ length: input.count(part, 1) }, (_, index) => input.bytes(`${part}[${index}]`))
}

/** Length of the block's RLP. */
function sizeOf(
  header: Uint8Array,
  transactions: readonly Uint8Array[],
  uncles: readonly Uint8Array[],
  withdrawals: Uint8Array | undefined,
): number {
  let length = 0
  // A legacy transaction is an item of the list; a typed one is the content of a byte string.
  for (const bytes of transactions)
    length += bytes[0] >= 0xc0 ? bytes.length : headerLength(bytes.length) + bytes.length
  const uncleBytes = uncles.reduce((sum, bytes) => sum + bytes.length, 0)
  return listLength(header.length + listLength(length) + listLength(uncleBytes) + (withdrawals?.length ?? 0))
}

function requireEqual(part: string, expected: Uint8Array, actual: Uint8Array): void {
  if (equalBytes(expected, actual)) return
  throw new InvalidMessage(part, `expected ${formatData(expected)}, got ${formatData(actual)}`)
}
