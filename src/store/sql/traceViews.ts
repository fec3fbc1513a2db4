import {
  CALL,
  CALLCODE,
  CREATE,
  CREATE2,
  DELEGATECALL,
  isCreation,
  parityTypeOf,
  STATICCALL,
} from '../../chain/eth/callOpcodes.js'
import { formatData } from '../../lib/hex.js'
import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { type CallTrace, decodeCallTraces } from '../rows/callTraces.js'
import { effectiveTraces, movesEther, placeCalls } from '../rows/placeCalls.js'
import { createTraceReader } from '../rows/traceRows.js'
import { fromTables, nextBlock } from '../state/historySql.js'

/* Views of the trace index. The rows of a block are decoded by a table function; addresses and hashes are joined where
 * a query reads them. */

/** Names of instructions in `call_type`. */
const CALL_TYPES = new Map([
  [CALL, 'call'],
  [CALLCODE, 'callcode'],
  [DELEGATECALL, 'delegatecall'],
  [STATICCALL, 'staticcall'],
  [CREATE, 'create'],
  [CREATE2, 'create2'],
])

/** Adds `v_traces`, `v_native_transfers` and `v_contracts` to a connection. `getSecond` returns another connection to
 *  the same database. A query of these views is an error where the trace index does not have all blocks. They use
 *  `cairn_method` of `addCallViews`. */
export function addTraceViews(db: Database, getSecond: () => Database): void {
  // A constant condition is evaluated before any table is read.
  db.function('cairn_require_traces', { deterministic: true }, () => {
    createTraceReader(getSecond()).requireComplete()
    return 1
  })
  addCalls(db)
  addTransfers(db)
  addCreations(db)
  for (const sql of [TRACES, NATIVE_TRANSFERS, CONTRACTS]) db.exec(sql)
}

/** `from`, `to` and `value` of a call as columns. */
function endsOf({ from, to, value }: CallTrace<number>): [bigint, bigint, string | null] {
  return [BigInt(from), BigInt(to), value === undefined ? null : value.toString()]
}

/** Adds `cairn_calls(data)`: the calls of a block, as `trace_block` has them. */
function addCalls(db: Database): void {
  db.table('cairn_calls', {
    columns: [
      ...['transaction_index', 'from_id', 'to_id', 'value', 'trace_address', 'type', 'call_type', 'gas', 'gas_used'],
      ...['input_length', 'selector', 'output_length', 'depth', 'subtraces', 'error', 'reverted', 'code_hash'],
    ],
    parameters: ['data'],
    *rows(data: unknown) {
      for (const [index, calls] of decodeCallTraces(data as Uint8Array).entries()) {
        for (const { call, traceAddress, subtraces, isReverted } of placeCalls(calls)) {
          const { gas, gasUsed, selector, failure, codeHash } = call
          yield [
            BigInt(index),
            ...endsOf(call),
            traceAddress.join('_'),
            parityTypeOf(call),
            CALL_TYPES.get(call.opcode) ?? null,
            encodeUint(gas),
            encodeUint(gasUsed),
            BigInt(call.inputLength),
            selector === undefined ? null : `0x${selector.toString(16).padStart(8, '0')}`,
            BigInt(call.outputLength),
            BigInt(call.depth),
            BigInt(subtraces),
            failure ?? null,
            isReverted ? 1n : 0n,
            codeHash === undefined ? null : formatData(codeHash),
          ]
        }
      }
    },
  })
}

/** Adds `cairn_transfers(data)`: the movements of ether of a block. */
function addTransfers(db: Database): void {
  db.table('cairn_transfers', {
    columns: ['transaction_index', 'from_id', 'to_id', 'value', 'transfer_index', 'type', 'depth'],
    parameters: ['data'],
    *rows(data: unknown) {
      let next = 0n
      for (const [index, calls] of decodeCallTraces(data as Uint8Array).entries()) {
        for (const call of effectiveTraces(calls)) {
          if (movesEther(call)) yield [BigInt(index), ...endsOf(call), next++, parityTypeOf(call), BigInt(call.depth)]
        }
      }
    },
  })
}

/** Adds `cairn_creations(data)`: the contracts that a block created. `replaced` is 1 where the block creates another
 *  one at the same address later. */
function addCreations(db: Database): void {
  db.table('cairn_creations', {
    columns: [
      ...['transaction_index', 'create_index', 'address_id', 'creator_id', 'factory_id', 'type'],
      ...['init_code_size', 'code_size', 'code_hash', 'replaced'],
    ],
    parameters: ['data'],
    *rows(data: unknown) {
      const created = decodeCallTraces(data as Uint8Array).flatMap((calls, index) =>
        [...effectiveTraces(calls)].filter(isCreation).map((call) => ({ index, call, creator: calls[0].from })),
      )
      const last = new Map(created.map(({ call }, i) => [call.to, i]))
      for (const [i, { index, call, creator }] of created.entries()) {
        yield [
          BigInt(index),
          BigInt(i),
          BigInt(call.to),
          BigInt(creator),
          call.depth === 0 ? null : BigInt(call.from),
          CALL_TYPES.get(call.opcode)!,
          BigInt(call.inputLength),
          BigInt(call.outputLength),
          formatData(call.codeHash!),
          last.get(call.to) === i ? 0n : 1n,
        ]
      }
    },
  })
}

const OF_BLOCK = 'b.number AS block_number, b.timestamp AS timestamp, x.transaction_index AS transaction_index'
const TRANSACTION_HASH = "'0x' || lower(hex(t.hash)) AS transaction_hash"
const hexOf = (alias: string) => `'0x' || lower(hex(${alias}.address))`
const ENDS = `${hexOf('f')} AS "from", ${hexOf('o')} AS "to"`
const VALUES = 'x.value AS value, CAST(x.value AS REAL) / 1e18 AS value_eth'

/** SQL of the rows of a table function over the blocks of the index. Left joins: a join whose columns are not read is
 *  omitted. */
const rowsOf = (table: string) => `FROM blocks b CROSS JOIN traces r ON r.block_number = b.number
  CROSS JOIN ${table}(r.data) x LEFT JOIN transactions t NOT INDEXED ON t.id = b.first_tx + x.transaction_index`
const JOINED_ENDS = 'LEFT JOIN addresses f ON f.id = x.from_id LEFT JOIN addresses o ON o.id = x.to_id'

const TRACES = `CREATE TEMP VIEW v_traces AS SELECT ${OF_BLOCK}, ${TRANSACTION_HASH},
  x.trace_address AS trace_address, x.type AS type, x.call_type AS call_type, ${ENDS}, ${VALUES},
  x.gas AS gas, x.gas_used AS gas_used, x.input_length AS input_length, x.selector AS selector,
  CASE WHEN x.selector IS NOT NULL THEN cairn_method(x.selector, o.address) END AS method,
  x.output_length AS output_length, x.depth AS depth, x.subtraces AS subtraces, x.error AS error,
  x.reverted AS reverted, x.code_hash AS code_hash
  ${rowsOf('cairn_calls')} ${JOINED_ENDS} WHERE cairn_require_traces()`

const NATIVE_TRANSFERS = `CREATE TEMP VIEW v_native_transfers AS SELECT ${OF_BLOCK}, ${TRANSACTION_HASH},
  x.transfer_index AS transfer_index, x.type AS type, x.depth AS depth, ${ENDS}, ${VALUES}
  ${rowsOf('cairn_transfers')} ${JOINED_ENDS} WHERE cairn_require_traces()`

/** SQL of the incarnation of a contract that exists at the end of the block that created it. */
const CREATED = `(${fromTables(
  'account',
  (table) => `SELECT incarnation FROM ${table} WHERE address_id = x.address_id AND block_number = b.number
    AND balance IS NOT NULL AND (x.code_size = 0 OR code_id IS NOT NULL)`,
)})`
const DESTROYED = `(${nextBlock(
  'account',
  `address_id = x.address_id AND block_number > b.number AND incarnation >= 0 AND (balance IS NULL
    OR incarnation > ${CREATED} OR (x.code_size > 0 AND code_id IS NULL))`,
)})`

const CONTRACTS = `CREATE TEMP VIEW v_contracts AS SELECT ${OF_BLOCK}, ${TRANSACTION_HASH},
  x.create_index AS create_index, ${hexOf('a')} AS address, ${hexOf('c')} AS creator,
  CASE WHEN x.factory_id IS NOT NULL THEN ${hexOf('f')} END AS factory,
  x.type AS call_type, x.init_code_size AS init_code_size, x.code_size AS code_size, x.code_hash AS code_hash,
  CASE WHEN x.replaced OR ${CREATED} IS NULL THEN b.number ELSE ${DESTROYED} END AS destroyed_block
  ${rowsOf('cairn_creations')} LEFT JOIN addresses a ON a.id = x.address_id
  LEFT JOIN addresses c ON c.id = x.creator_id LEFT JOIN addresses f ON f.id = x.factory_id
  WHERE cairn_require_traces()`
