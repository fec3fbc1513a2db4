import { inflateSync } from 'node:zlib'
import type { Felt } from '../../chain/starknet/felt.js'
import {
  bareFelt,
  type Field,
  felt,
  InvalidL2Recording,
  member,
  optional,
} from '../../chain/starknet/recording/fields.js'
import { openRecording, readL2Recording, transactionOf } from '../../chain/starknet/recording/recording.js'
import type { L2Block } from '../../chain/starknet/types.js'
import { type ByteLru, createByteLru } from '../../lib/byteLru.js'
import { parseJsonExact } from '../../lib/json.js'
import type { L2Reader } from '../../store/l2/l2Reader.js'
import { L2PartUnavailable } from '../../store/l2/unavailable.js'
import type { ReceiptSource } from './receiptJson.js'
import { formatL2Transaction, type TransactionJson } from './transactionJson.js'

/** The content of a block's recording besides its header. */
export interface L2Body {
  readonly block: L2Block
  /** State root before the block, if recorded. */
  readonly oldRoot: Felt | undefined
  /** Transactions in order. @throws L2PartUnavailable */
  transactions(): readonly TransactionJson[]
  /** Receipts in order. @throws L2PartUnavailable */
  receipts(): readonly ReceiptSource[]
}

/** A block, or the pending one without hash. */
interface RecordedBlock {
  readonly number?: number
  readonly hash?: Felt
}

// The last few blocks stay parsed: clients request the transactions of a block one after the other. A parsed block
// takes about fifty times its deflated recording, 10 MB for the largest known ones.
const CACHED_RAW_BYTES = 1_000_000

const caches = new WeakMap<L2Reader, ByteLru<{ raw: Uint8Array; body: L2Body }>>()

/** The body of a stored block, or of the pending one. @throws L2PartUnavailable when its recording is not stored or
 *  cannot be read */
export function readL2Body(l2: L2Reader, block: RecordedBlock): L2Body {
  const raw = block.hash === undefined ? l2.pendingRecording() : l2.recording(block.hash)
  if (raw === undefined) throw new L2PartUnavailable(block.number, 'recording')
  let cache = caches.get(l2)
  if (cache === undefined) {
    cache = createByteLru({ maxBytes: CACHED_RAW_BYTES, sizeOf: (_key, value) => value.raw.length })
    caches.set(l2, cache)
  }
  const key = String(block.hash)
  const cached = cache.get(key)
  if (cached !== undefined && Buffer.compare(cached.raw, raw) === 0) return cached.body
  const body = readable(block.number, () => parseBody(raw, block.number))
  cache.set(key, { raw, body })
  return body
}

function parseBody(raw: Uint8Array, number: number | undefined): L2Body {
  const json = parseJsonExact(inflateSync(raw).toString())
  const block = readL2Recording(json)
  const parts = openRecording(json)
  const entries = listOf(member(parts.block, 'transactions'))
  const fields = parts.isFeeder ? entries : entries.map(transactionOf)
  const oldRoot = parts.stateUpdate && optional(member(parts.stateUpdate, 'old_root'), bareFelt)
  let transactions: readonly TransactionJson[] | undefined
  const readTransactions = () => {
    if (entries.length > 0 && typeof entries[0].value === 'string') throw new L2PartUnavailable(number, 'transactions')
    transactions ??= readable(number, () => fields.map(formatL2Transaction))
    return transactions
  }
  return {
    block,
    oldRoot,
    transactions: readTransactions,
    receipts: () => {
      const { receipts } = block
      const own = readTransactions()
      if (receipts === undefined || receipts.some(({ events }) => events === undefined)) {
        if (own.length > 0) throw new L2PartUnavailable(number, 'receipts')
        return []
      }
      return receipts.map((receipt, i) => ({
        receipt,
        transaction: own[i],
        contractAddress: readContract(entries[i], fields[i]),
        lacksNonce: member(fields[i], 'nonce').value === undefined,
      }))
    },
  }
}

/** Address of a deployed contract, from the transaction or its receipt. */
function readContract(entry: Field, transaction: Field): Felt | undefined {
  const own = optional(member(transaction, 'contract_address'), felt)
  const receipt = member(entry, 'receipt')
  return own ?? (receipt.value === undefined ? undefined : optional(member(receipt, 'contract_address'), felt))
}

function listOf({ value, path }: Field): Field[] {
  return (value as unknown[]).map((entry, i) => ({ value: entry, path: `${path}[${i}]` }))
}

/** @throws L2PartUnavailable if the import did not check the part and it cannot be read */
function readable<T>(number: number | undefined, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidL2Recording)) throw error
    throw new L2PartUnavailable(number, 'complete recording', error)
  }
}
