import { bigIntToBytes, EMPTY_BYTES } from '../../lib/bytes.js'
import { addedType, describeTypes, MAX_ETHEREUM_TYPE } from './families/addedTypes.js'
import {
  asBytes,
  asFixed,
  asList,
  asUint,
  DecodeError,
  decodeRlp,
  describeItem,
  type RlpItem,
  type RlpList,
  underPath,
} from './rlp.js'
import { headerLength, LIST, stringLength, writeHeader, writeString } from './rlpBytes.js'
import { orderedTrieRoot } from './trie.js'
import type { ConsensusReceipt, Log, TransactionType } from './types.js'

/** Consensus bytes of a receipt: a legacy RLP list, or the type byte and that list (EIP-2718; EIP-658 for the status).
 *  Types that families add may have more fields.
 *  @throws RangeError when it has neither a status nor a root. */
export function encodeReceipt(receipt: ConsensusReceipt): Uint8Array {
  const { type, status, root, cumulativeGasUsed, logsBloom, logs } = receipt
  if (status === undefined && root === undefined) throw new RangeError('a receipt needs a status or a root')
  const outcome = status === undefined ? root! : status === 1 ? Uint8Array.of(1) : EMPTY_BYTES
  const gas = bigIntToBytes(cumulativeGasUsed)
  const logLengths = logs.map(logLength)
  let logsLength = 0
  for (const length of logLengths) logsLength += headerLength(length) + length
  const added = addedType(type)?.receiptFields(receipt).map(bigIntToBytes) ?? NO_FIELDS
  let length =
    stringLength(outcome) + stringLength(gas) + stringLength(logsBloom) + headerLength(logsLength) + logsLength
  for (const field of added) length += stringLength(field)
  const start = type === 0 ? 0 : 1
  const out = new Uint8Array(start + headerLength(length) + length)
  if (type !== 0) out[0] = type
  let at = writeHeader(out, start, LIST, length)
  for (const field of [outcome, gas, logsBloom]) at = writeString(out, at, field)
  at = writeHeader(out, at, LIST, logsLength)
  for (let i = 0; i < logs.length; i++) at = writeLog(out, at, logs[i], logLengths[i])
  for (const field of added) at = writeString(out, at, field)
  return out
}

const NO_FIELDS: readonly Uint8Array[] = []

/** Length of the RLP of a log without its header. */
function logLength({ address, topics, data }: Log): number {
  const length = topicsLength(topics)
  return stringLength(address) + headerLength(length) + length + stringLength(data)
}

function topicsLength(topics: readonly Uint8Array[]): number {
  let length = 0
  for (let i = 0; i < topics.length; i++) length += stringLength(topics[i])
  return length
}

/** Writes the RLP of a log, [address, topics, data], with `length` bytes after its header; returns its end. */
function writeLog(out: Uint8Array, start: number, { address, topics, data }: Log, length: number): number {
  let at = writeString(out, writeHeader(out, start, LIST, length), address)
  at = writeHeader(out, at, LIST, topicsLength(topics))
  for (let i = 0; i < topics.length; i++) at = writeString(out, at, topics[i])
  return writeString(out, at, data)
}

/** A receipt from its consensus bytes, or from the decoded list of a legacy one.
 *  @throws DecodeError naming the field under `path`. */
export function decodeReceipt(input: Uint8Array | RlpList, path = 'receipt'): ConsensusReceipt {
  try {
    if (!(input instanceof Uint8Array)) return readReceipt(0, input)
    if (input.length === 0) throw new DecodeError('', 'expected a receipt, got no bytes')
    if (input[0] >= 0xc0) return readReceipt(0, decodeRlp(input, ''))
    if (input[0] < 1 || (input[0] > MAX_ETHEREUM_TYPE && addedType(input[0]) === undefined))
      throw new DecodeError('type', `expected ${describeTypes(1)}, got ${input[0]}`)
    return readReceipt(input[0] as TransactionType, decodeRlp(input.subarray(1), ''))
  } catch (error) {
    throw underPath(path, error)
  }
}

/** The receipts of a block from the RLP of their list, as era1 files have it: legacy ones as lists, typed ones as byte
 *  strings. @throws DecodeError with a path from `receipts` on. */
export function decodeReceipts(bytes: Uint8Array): ConsensusReceipt[] {
  const items = asList(decodeRlp(bytes, 'receipts'), 'receipts')
  return items.map((item, index) => {
    if (item instanceof Uint8Array && item.length > 0 && item[0] > 0x7f) {
      throw new DecodeError(`receipts[${index}]`, `expected a list or a typed receipt, got ${describeItem(item)}`)
    }
    return decodeReceipt(item, `receipts[${index}]`)
  })
}

function readReceipt(type: TransactionType, item: RlpItem): ConsensusReceipt {
  const added = addedType(type)
  const fields = asList(item, '', 4, added === undefined ? 4 : Number.POSITIVE_INFINITY)
  const outcome = asBytes(fields[0], 'status')
  const isStatus = outcome.length === 0 || (outcome.length === 1 && outcome[0] === 1)
  if (!isStatus && outcome.length !== 32) {
    throw new DecodeError('status', `expected no bytes, 0x01 or a root of 32 bytes, got ${describeItem(outcome)}`)
  }
  const receipt: ConsensusReceipt = {
    type,
    status: isStatus ? (outcome.length === 1 ? 1 : 0) : undefined,
    root: isStatus ? undefined : outcome,
    cumulativeGasUsed: asUint(fields[1], 8, 'cumulativeGasUsed'),
    logsBloom: asFixed(fields[2], 256, 'logsBloom'),
    logs: asList(fields[3], 'logs').map(readLog),
  }
  return added === undefined ? receipt : { ...receipt, ...added.readReceiptFields(fields.slice(4)) }
}

function readLog(item: RlpItem, index: number): Log {
  try {
    const [address, topics, data] = asList(item, '', 3, 3)
    return {
      address: asFixed(address, 20, 'address'),
      topics: asList(topics, 'topics', 0, 4).map((topic, at) => asFixed(topic, 32, `topics[${at}]`)),
      data: asBytes(data, 'data'),
    }
  } catch (error) {
    throw underPath(`logs[${index}]`, error)
  }
}

/** Root of the receipts' trie, 32 bytes. */
export function receiptsRoot(receipts: readonly ConsensusReceipt[]): Uint8Array {
  return orderedTrieRoot(receipts.map(encodeReceipt))
}
