import { keccak256 } from '../../chain/crypto.js'
import { decodeBody } from '../../chain/eth/block.js'
import { EMPTY_UNCLES_HASH } from '../../chain/eth/emptyHashes.js'
import { encodeHeader } from '../../chain/eth/header.js'
import { DecodeError, encodeListOf, encodeRlp, measureRlp } from '../../chain/eth/rlp.js'
import { orderedTrieRoot } from '../../chain/eth/trie.js'
import type { Block, Header, Withdrawal } from '../../chain/eth/types.js'
import { encodeWithdrawals, withdrawalsRoot } from '../../chain/eth/withdrawals.js'
import { hashRequests } from '../../evm/transition/system.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { type Fields, parseData, readFields } from '../../sources/ethRpc/fields.js'
import type { RawBlock } from '../../sources/source.js'
import { InvalidPayload } from './errors.js'

/** The parameters of a payload, as JSON. */
export interface PayloadParams {
  readonly payload: unknown
  /** From Cancun on. */
  readonly versionedHashes?: unknown
  readonly parentBeaconBlockRoot?: unknown
  /** From Prague on. */
  readonly requests?: unknown
}

/** A payload whose block hash was recomputed. */
export interface DecodedPayload {
  readonly raw: RawBlock
  /** Encoded size of the block and its access list. */
  readonly sizeBytes: number
}

const MAX_EXTRA_DATA = 32

/** Decodes an execution payload (Engine API, structures ExecutionPayloadV1 to V4): all transactions with their senders,
 *  and the header, whose hash is that of the payload. Nothing is compared with a parent. @throws InvalidPayload when it
 *  is not that block, or its blobs are not those of the versioned hashes; DecodeError for malformed parameters */
export function decodePayload(params: PayloadParams): DecodedPayload {
  const { header, transactions, withdrawals, blockHash, blockAccessList, versionedHashes } = readPayload(params)
  const { length } = header.extraData
  if (length > MAX_EXTRA_DATA)
    throw new InvalidPayload(`extra data: expected at most ${MAX_EXTRA_DATA} bytes, got ${length}`)
  const headerRlp = encodeHeader(header)
  const ownHash = keccak256(headerRlp)
  const block = decodeBlockOf({ rlp: headerRlp, hash: ownHash }, transactions, withdrawals)
  if (!equalBytes(ownHash, blockHash)) {
    throw new InvalidPayload(
      `block hash: expected ${formatData(ownHash)} of the fields, the payload has ${formatData(blockHash)}`,
    )
  }
  if (versionedHashes) requireBlobs(block, versionedHashes)
  return {
    raw: { block, hasVerifiedRoots: true, blockAccessList },
    sizeBytes: block.sizeBytes + (blockAccessList?.length ?? 0),
  }
}

function readPayload({ payload, versionedHashes, parentBeaconBlockRoot, requests }: PayloadParams) {
  const fields = readFields(payload, 'payload')
  const transactions = readDataList(fields.array('transactions'), 'payload.transactions')
  const withdrawals = fields.optional('withdrawals', fields.array)?.map(readWithdrawal)
  const blockAccessList = fields.optional('blockAccessList', fields.data)
  const extraData = fields.data('extraData')
  const own = readFields({ parentBeaconBlockRoot }, 'params')
  const header: Header = {
    parentHash: fields.fixed('parentHash', 32),
    unclesHash: EMPTY_UNCLES_HASH,
    miner: fields.fixed('feeRecipient', 20),
    stateRoot: fields.fixed('stateRoot', 32),
    transactionsRoot: orderedTrieRoot(transactions),
    receiptsRoot: fields.fixed('receiptsRoot', 32),
    logsBloom: fields.fixed('logsBloom', 256),
    difficulty: 0n,
    number: fields.integer('blockNumber'),
    gasLimit: uint64(fields, 'gasLimit'),
    gasUsed: uint64(fields, 'gasUsed'),
    timestamp: uint64(fields, 'timestamp'),
    extraData,
    mixHash: fields.fixed('prevRandao', 32),
    nonce: new Uint8Array(8),
    baseFeePerGas: fields.quantity('baseFeePerGas'),
    withdrawalsRoot: withdrawals && withdrawalsRoot(withdrawals),
    blobGasUsed: fields.optional('blobGasUsed', (name) => uint64(fields, name)),
    excessBlobGas: fields.optional('excessBlobGas', (name) => uint64(fields, name)),
    parentBeaconBlockRoot: own.optional('parentBeaconBlockRoot', (name) => own.fixed(name, 32)),
    requestsHash: requests === undefined ? undefined : readRequestsHash(requests),
    blockAccessListHash: blockAccessList && keccak256(blockAccessList),
    slotNumber: fields.optional('slotNumber', (name) => uint64(fields, name)),
  }
  const hashes = versionedHashes === undefined ? undefined : readFields({ versionedHashes }, 'params')
  const blockHash = fields.fixed('blockHash', 32)
  return {
    header,
    transactions,
    withdrawals,
    blockHash,
    blockAccessList,
    versionedHashes: hashes?.hashes('versionedHashes'),
  }
}

const MAX_UINT64 = 2n ** 64n - 1n

function uint64(fields: Fields, name: string): bigint {
  const value = fields.quantity(name)
  if (value > MAX_UINT64) throw new DecodeError(`${fields.path}.${name}`, `expected at most 64 bits, got ${value}`)
  return value
}

function readDataList(items: readonly unknown[], path: string): Uint8Array[] {
  return items.map((item, index) => {
    const bytes = parseData(item)
    if (bytes === undefined) throw new DecodeError(`${path}[${index}]`, 'expected hex data')
    return bytes
  })
}

function readWithdrawal(item: unknown, index: number): Withdrawal {
  const fields = readFields(item, `payload.withdrawals[${index}]`)
  return {
    index: uint64(fields, 'index'),
    validatorIndex: uint64(fields, 'validatorIndex'),
    address: fields.fixed('address', 20),
    amountGwei: uint64(fields, 'amount'),
  }
}

/** Returns the requests hash, 32 bytes. Requests ascend by type, and each has data (Engine API, Prague). @throws
 *  DecodeError */
function readRequestsHash(value: unknown): Uint8Array {
  const requests = readDataList(readFields({ requests: value }, 'params').array('requests'), 'params.requests')
  const byType: Uint8Array[] = []
  for (const [index, request] of requests.entries()) {
    const path = `params.requests[${index}]`
    if (request.length < 2) throw new DecodeError(path, `expected a type and data, got ${request.length} bytes`)
    const [type] = request
    if (type < byType.length) throw new DecodeError(path, `expected a type of at least ${byType.length}, got ${type}`)
    while (byType.length < type) byType.push(EMPTY_BYTES)
    byType.push(request.subarray(1))
  }
  return hashRequests(byType)
}

/** @throws InvalidPayload */
function decodeBlockOf(
  header: { rlp: Uint8Array; hash: Uint8Array },
  transactions: readonly Uint8Array[],
  withdrawals: readonly Withdrawal[] | undefined,
): Block {
  try {
    const items = transactions.map(asListItem)
    const parts = [encodeListOf(items), encodeListOf([]), ...(withdrawals ? [encodeWithdrawals(withdrawals)] : [])]
    return decodeBody(header, encodeListOf(parts))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new InvalidPayload(error.message, { cause: error })
  }
}

/** Returns a transaction as it is in the list of a block: a legacy one is a list, a typed one a byte string. */
function asListItem(transaction: Uint8Array, index: number): Uint8Array {
  if (transaction.length === 0) throw new DecodeError(`transactions[${index}]`, 'expected a transaction, got no bytes')
  if (transaction[0] < 0xc0) return encodeRlp(transaction)
  const end = measureRlp(transaction, 0)?.end
  if (end === transaction.length) return transaction
  throw new DecodeError(`transactions[${index}]`, `expected a list of ${end} bytes, got ${transaction.length}`)
}

function requireBlobs({ transactions }: Block, expected: readonly Uint8Array[]): void {
  const own = transactions.flatMap(({ blobVersionedHashes }) => blobVersionedHashes ?? [])
  const differs = own.findIndex((each, i) => !expected[i] || !equalBytes(each, expected[i]))
  if (differs < 0 && own.length === expected.length) return
  const at = differs < 0 ? own.length : differs
  const show = (hashes: readonly Uint8Array[]) => (hashes[at] ? formatData(hashes[at]) : 'none')
  throw new InvalidPayload(`versioned hash ${at}: expected ${show(expected)}, the transactions have ${show(own)}`)
}
