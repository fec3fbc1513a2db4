import { formatData } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { bytesOfValue } from './functionValues.js'
import { JOINED_TRANSACTIONS, PLACE_OF_TRANSACTION } from './transactionSql.js'

/** A call by the interface of the called contract. */
export interface NamedCall {
  readonly method: string
  /** Name and types of the parameters: `transfer(address,uint256)`. */
  readonly signature: string
  /** JSON: an object of the arguments by name, `arg0` for the first one without a name. */
  readonly arguments: string
  /** Whether a signature file names the method, and no ABI. */
  readonly isGuess: boolean
}

/** Decodes the input of a call to `to` (20 bytes) in a block. Null for unknown methods and malformed input. */
export type DecodeCall = (to: Uint8Array, input: Uint8Array, blockNumber: number) => NamedCall | null

/** Columns that come from the decoded call, in the order of `cairn_call`. */
const COLUMNS: readonly ((call: NamedCall) => string | bigint)[] = [
  ({ method }) => method,
  ({ signature }) => signature,
  (call) => call.arguments,
  ({ isGuess }) => BigInt(isGuess),
]

/** Returns why a transaction failed, by its hash (32 bytes); null for one that succeeded or is unknown. */
export type RevertReason = (hash: Uint8Array) => string | null

/** Returns the signature of the function that a contract (20 bytes) has for a selector (4 bytes) by the ABIs and
 *  signature files of the database; null for an unknown one. */
type NameMethod = (selector: Uint8Array, to: Uint8Array) => string | null

/** What decodes the calls of a connection. */
export interface CallDecoding {
  readonly decodeCall: DecodeCall
  readonly nameMethod: NameMethod
  readonly revertReason: RevertReason
}

/** For a connection whose views of calls are not queried. */
export const noCallDecoding: CallDecoding = {
  decodeCall: () => null,
  nameMethod: () => null,
  revertReason: () => null,
}

/** Adds `v_calls`, the calls of transactions by method and arguments, and `v_reverts`, failed transactions with their
 *  reasons, and the functions `cairn_revert_reason(transaction_hash)` and `cairn_method(selector, address)` to a
 *  connection. */
export function addCallViews(db: Database, { decodeCall, nameMethod, revertReason }: CallDecoding): void {
  // SQLite requests each column of a row in turn: the last call is kept.
  let last: { transaction: number; call: NamedCall | null } | undefined
  db.function(
    'cairn_call',
    (column: number, transaction: number, to: Uint8Array, input: Uint8Array, blockNumber: number) => {
      if (last?.transaction !== transaction) last = { transaction, call: decodeCall(to, input, blockNumber) }
      return last.call === null ? null : COLUMNS[column](last.call)
    },
  )
  db.function('cairn_selector', { deterministic: true }, (input: Uint8Array) =>
    input.length < 4 ? null : formatData(input.subarray(0, 4)),
  )
  db.function('cairn_revert_reason', (hash: unknown) => {
    const bytes = bytesOfValue(hash)
    return bytes?.length === 32 ? revertReason(bytes) : null
  })
  db.function('cairn_method', { deterministic: true }, (selector: unknown, address: unknown) => {
    const [key, to] = [bytesOfValue(selector), bytesOfValue(address)]
    return key?.length === 4 && to?.length === 20 ? nameMethod(key, to) : null
  })
  for (const sql of [CALLS, REVERTS]) db.exec(sql)
}

const PLACE = `${PLACE_OF_TRANSACTION}, '0x' || lower(hex(t.sender)) AS "from"`

const column = (index: number) => `cairn_call(${index}, t.id, t.recipient, t.input, b.number)`

const CALLS = `CREATE TEMP VIEW v_calls AS SELECT ${PLACE},
  '0x' || lower(hex(t.recipient)) AS "to", cairn_selector(t.input) AS selector,
  ${column(0)} AS method, ${column(1)} AS signature, ${column(2)} AS arguments, ${column(3)} AS is_guess,
  CAST(t.value AS TEXT) AS value, r.status AS status, r.gas_used AS gas_used
  ${JOINED_TRANSACTIONS} LEFT JOIN receipts r NOT INDEXED ON r.tx_id = t.id WHERE t.recipient IS NOT NULL AND length(t.input) > 0`

const REVERTS = `CREATE TEMP VIEW v_reverts AS SELECT ${PLACE},
  CASE WHEN t.recipient IS NULL THEN NULL ELSE '0x' || lower(hex(t.recipient)) END AS "to",
  cairn_selector(t.input) AS selector, r.gas_used AS gas_used, cairn_revert_reason(t.hash) AS reason
  ${JOINED_TRANSACTIONS} JOIN receipts r NOT INDEXED ON r.tx_id = t.id WHERE r.status = 0`
