import { type Input, RLP } from '@ethereumjs/rlp'
import { formatData } from '../../lib/hex.js'
import { keccak256 } from '../crypto.js'
import { EMPTY_UNCLES_HASH } from './emptyHashes.js'
import { describeOtherFamily } from './families/families.js'
import type { Family } from './families/family.js'
import { decodeHeader, headerFields } from './header.js'
import {
  asFixed,
  asList,
  asRawList,
  asUint,
  DecodeError,
  decodeRlp,
  describeItem,
  listLength,
  measureRlp,
  type RlpInput,
  type RlpItem,
  underPath,
} from './rlp.js'
import { decodeTransaction, encodeTransaction, signedFields } from './transaction.js'
import { orderedTrieRoot } from './trie.js'
import type { Block, Header, Transaction, Withdrawal } from './types.js'
import { withdrawalFields } from './withdrawals.js'

/** Senders that were recovered before their block is decoded. */
export interface KnownSenders {
  /** Returns the sender of the transaction at `index`, 20 bytes; undefined where it is not known. Call it once for each
   *  transaction, in their order. */
  take(index: number): Uint8Array | undefined
}

/** A block from its RLP: [header, transactions, uncles] and, from Shanghai on, withdrawals. Recovers the senders that
 *  are not known. Does not compare the parts with the header: see verifyRoots. @throws DecodeError whose path names the
 *  block, if its header is readable, and the field. */
export function decodeBlock(bytes: Uint8Array, senders?: KnownSenders, family?: Family): Block {
  const parts = asList(decodeRlp(bytes, 'block'), 'block', 3, 4)
  const list = asRawList(parts[0], 'header')
  const header = decodeHeader(list)
  const hash = hashOf(header, list.raw, family)
  return assembleBlock({ hash, header, body: parts.slice(1), sizeBytes: bytes.length, senders })
}

/** Returns the block hash, 32 bytes, of a header and its RLP; without `family` that of Ethereum.
 *  @throws DecodeError for a header of another form, which names the family that has it, if only one has */
export function hashOf(header: Header, rlp: Uint8Array, family: Family | undefined): Uint8Array {
  if (family === undefined || family.hashesWholeHeader) return keccak256(rlp)
  try {
    return family.hashHeader(header)
  } catch (error) {
    const other = describeOtherFamily(header, family)
    throw error instanceof DecodeError && other ? new DecodeError(error.path, `${error.problem}; ${other}`) : error
  }
}

/** A block from the RLP of its header, the header's hash, and the RLP of its body ([transactions, uncles] and, from
 *  Shanghai on, withdrawals), as in era1 files. @throws DecodeError as `decodeBlock`. */
export function decodeBody(
  { rlp: headerRlp, hash }: { rlp: Uint8Array; hash: Uint8Array },
  bodyRlp: Uint8Array,
  senders?: KnownSenders,
): Block {
  const header = decodeHeader(headerRlp)
  const body = asList(decodeRlp(bodyRlp, 'body'), 'body', 2, 3)
  const span = measureRlp(bodyRlp, 0)!
  const sizeBytes = listLength(headerRlp.length + span.end - span.payload)
  return assembleBlock({ hash, header, body, sizeBytes, senders })
}

/** Returns the RLP of the transactions of a block, a view, from the RLP of the block, or with `isBody` of its body.
 *  Undefined when it cannot be found. */
export function transactionsRlp(
  bytes: Uint8Array,
  { isBody = false }: { isBody?: boolean } = {},
): Uint8Array | undefined {
  try {
    let start = measureRlp(bytes, 0)?.payload ?? bytes.length
    if (!isBody) start = measureRlp(bytes, start)?.end ?? bytes.length
    const end = measureRlp(bytes, start)?.end
    return end !== undefined && end <= bytes.length ? bytes.subarray(start, end) : undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

interface BlockParts {
  hash: Uint8Array
  header: Header
  body: RlpItem[]
  sizeBytes: number
  senders?: KnownSenders
}

function assembleBlock({ hash, header, body, sizeBytes, senders }: BlockParts): Block {
  try {
    return {
      hash,
      header,
      transactions: asList(body[0], 'transactions').map((item, index) =>
        readTransaction(item, index, senders?.take(index)),
      ),
      uncles: asList(body[1], 'uncles').map(readUncle),
      withdrawals: body.length > 2 ? readWithdrawals(body[2]) : undefined,
      sizeBytes,
    }
  } catch (error) {
    throw underPath(`block ${header.number} (${formatData(hash)}) `, error)
  }
}

function readUncle(item: RlpItem, index: number): Header {
  const path = `uncles[${index}]`
  return decodeHeader(asRawList(item, path), path)
}

function readTransaction(item: RlpItem, index: number, sender: Uint8Array | undefined): Transaction {
  const path = `transactions[${index}]`
  // A typed transaction is a byte string (EIP-2718), a legacy one a list.
  if (item instanceof Uint8Array && item.length > 0 && item[0] > 0x7f) {
    throw new DecodeError(path, `expected a list or a typed transaction, got ${describeItem(item)}`)
  }
  return decodeTransaction(item, path, sender)
}

/** RLP of the block: [header, transactions, uncles] and the withdrawals when there is a list of them. */
export function encodeBlock(block: Omit<Block, 'hash' | 'sizeBytes'>): Uint8Array {
  return encodeParts(block, headerFields(block.header))
}

/** As `encodeBlock`, with the fields that headers of the family have. */
export function encodeBlockOf(family: Family, block: Omit<Block, 'hash' | 'sizeBytes'>): Uint8Array {
  const { header } = block
  return encodeParts(block, family.encodedFields(header))
}

function encodeParts(block: Omit<Block, 'hash' | 'sizeBytes'>, fields: RlpInput[]): Uint8Array {
  const { transactions, uncles, withdrawals } = block
  const items = transactions.map((transaction) =>
    transaction.type === 0 ? signedFields(transaction) : encodeTransaction(transaction),
  )
  const parts = [fields, items, uncles.map(headerFields)]
  return RLP.encode((withdrawals ? [...parts, withdrawals.map(withdrawalFields)] : parts) as Input)
}

/** Withdrawals from the RLP of their list. @throws DecodeError with a path from `withdrawals` on. */
export function decodeWithdrawals(bytes: Uint8Array): Withdrawal[] {
  return readWithdrawals(decodeRlp(bytes, 'withdrawals'))
}

function readWithdrawals(item: RlpItem): Withdrawal[] {
  return asList(item, 'withdrawals').map((withdrawal, index) => {
    try {
      const fields = asList(withdrawal, '', 4, 4)
      return {
        index: asUint(fields[0], 8, 'index'),
        validatorIndex: asUint(fields[1], 8, 'validatorIndex'),
        address: asFixed(fields[2], 20, 'address'),
        amountGwei: asUint(fields[3], 8, 'amountGwei'),
      }
    } catch (error) {
      throw underPath(`withdrawals[${index}]`, error)
    }
  })
}

/** Root of the transactions' trie, 32 bytes. */
export function transactionsRoot(transactions: readonly Transaction[]): Uint8Array {
  return orderedTrieRoot(transactions.map(encodeTransaction))
}

/** keccak-256 of the RLP of the uncles' headers, 32 bytes; that of an empty list without uncles. */
export function unclesHash(uncles: readonly Header[]): Uint8Array {
  if (uncles.length === 0) return EMPTY_UNCLES_HASH
  return keccak256(RLP.encode(uncles.map(headerFields)))
}
