import { decodeAccessList, decodeAuthorizationList } from '../../chain/eth/access.js'
import { decodeWithdrawals } from '../../chain/eth/block.js'
import { recoverAuthority } from '../../chain/eth/delegation.js'
import { bigIntToFixedBytes, bytesToBigInt, padLeft } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'
import { encodeUint } from '../columns.js'
import type { Database } from '../database.js'
import { unpackDeposit } from '../rows/deposit.js'
import { JOINED_TRANSACTIONS, PLACE_OF_TRANSACTION } from './transactionSql.js'

const GWEI = 1_000_000_000n

/** Adds the views of what blocks and transactions have in one encoded column to a connection: `v_withdrawals`,
 *  `v_authorizations`, `v_access_lists` and `v_deposits`. */
export function addBodyViews(db: Database): void {
  addWithdrawals(db)
  addAuthorizations(db)
  addAccessLists(db)
  addDeposits(db)
  for (const sql of [WITHDRAWALS, AUTHORIZATIONS, ACCESS_LISTS, DEPOSITS]) db.exec(sql)
}

function addWithdrawals(db: Database): void {
  db.table('cairn_withdrawals', {
    columns: ['withdrawal_index', 'validator_index', 'address', 'amount'],
    parameters: ['list'],
    *rows(list: unknown) {
      for (const { index, validatorIndex, address, amountGwei } of decodeWithdrawals(list as Uint8Array)) {
        const amount = (amountGwei * GWEI).toString()
        yield [encodeUint(index), encodeUint(validatorIndex), formatData(address), amount]
      }
    },
  })
}

function addAuthorizations(db: Database): void {
  db.table('cairn_authorizations', {
    columns: ['authorization_index', 'chain_id', 'delegate', 'nonce', 'y_parity', 'r', 's'],
    parameters: ['list'],
    *rows(list: unknown) {
      for (const [at, each] of decodeAuthorizationList(list as Uint8Array).entries()) {
        const { chainId, address, nonce, yParity, r, s } = each
        yield [
          BigInt(at),
          chainId.toString(),
          formatData(address),
          encodeUint(nonce),
          yParity,
          bigIntToFixedBytes(r, 32),
          bigIntToFixedBytes(s, 32),
        ]
      }
    },
  })
  // A function of its own: recovering takes longer than all else, and runs only where the column is read.
  db.function(
    'cairn_authority',
    { deterministic: true },
    (chainId: string, delegate: string, nonce: number | string, yParity: number, r: Uint8Array, s: Uint8Array) => {
      const signed = { chainId: BigInt(chainId), address: parseHex(delegate), nonce: BigInt(nonce) }
      const signature = { yParity: BigInt(yParity), r: bytesToBigInt(r), s: bytesToBigInt(s) }
      const authority = recoverAuthority({ ...signed, ...signature })
      return authority === undefined ? null : formatData(authority)
    },
  )
}

function addAccessLists(db: Database): void {
  db.table('cairn_access_list', {
    columns: ['address', 'slot'],
    parameters: ['list'],
    *rows(list: unknown) {
      for (const { address, storageKeys } of decodeAccessList(list as Uint8Array)) {
        const text = formatData(address)
        if (storageKeys.length === 0) yield [text, null]
        for (const slot of storageKeys) yield [text, formatData(padLeft(slot, 32))]
      }
    },
  })
}

function addDeposits(db: Database): void {
  db.table('cairn_deposit', {
    columns: ['source_hash', 'mint', 'is_system_transaction', 'has_nonce'],
    parameters: ['deposit'],
    *rows(deposit: unknown) {
      if (deposit === null) return
      const { sourceHash, mint = 0n, isSystemTransaction, receiptVersion } = unpackDeposit(deposit as Uint8Array)
      const flags = [isSystemTransaction, receiptVersion !== undefined].map(BigInt)
      yield [formatData(sourceHash), mint.toString(), ...flags]
    },
  })
}

const WITHDRAWALS = `CREATE TEMP VIEW v_withdrawals AS SELECT b.number AS block_number, b.timestamp AS timestamp,
  w.withdrawal_index AS withdrawal_index, w.validator_index AS validator_index, w.address AS address,
  w.amount AS amount, CAST(w.amount AS REAL) / 1e18 AS amount_eth
  FROM blocks b CROSS JOIN cairn_withdrawals(b.withdrawals) w`

const AUTHORIZATIONS = `CREATE TEMP VIEW v_authorizations AS SELECT ${PLACE_OF_TRANSACTION},
  l.authorization_index AS authorization_index,
  cairn_authority(l.chain_id, l.delegate, l.nonce, l.y_parity, l.r, l.s) AS authority,
  l.delegate AS delegate, l.chain_id AS chain_id, l.nonce AS nonce
  ${JOINED_TRANSACTIONS} CROSS JOIN cairn_authorizations(t.authorization_list) l`

const ACCESS_LISTS = `CREATE TEMP VIEW v_access_lists AS SELECT ${PLACE_OF_TRANSACTION},
  l.address AS address, l.slot AS slot ${JOINED_TRANSACTIONS} CROSS JOIN cairn_access_list(t.access_list) l`

const DEPOSITS = `CREATE TEMP VIEW v_deposits AS SELECT ${PLACE_OF_TRANSACTION},
  d.source_hash AS source_hash, '0x' || lower(hex(t.sender)) AS "from",
  CASE WHEN t.recipient IS NULL THEN NULL ELSE '0x' || lower(hex(t.recipient)) END AS "to",
  d.mint AS mint, CAST(d.mint AS REAL) / 1e18 AS mint_eth, CAST(t.value AS TEXT) AS value,
  CAST(t.value AS REAL) / 1e18 AS value_eth, t.gas_limit AS gas_limit,
  CASE WHEN d.has_nonce THEN t.nonce END AS nonce, d.is_system_transaction AS is_system_transaction
  ${JOINED_TRANSACTIONS} AND t.type = 126 CROSS JOIN cairn_deposit(t.deposit) d`
