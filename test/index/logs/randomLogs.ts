import type { Log } from '../../../src/chain/eth/types.js'
import { trimLeft } from '../../../src/lib/bytes.js'
import { encodeUint } from '../../../src/store/columns.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/** A log with its place, as the oracle of queries knows it. */
export interface PlacedLog extends Log {
  blockNumber: number
  transactionIndex: number
  transactionHash: Uint8Array
  logIndex: number
}

/** Numbers in [0, 1) from a seed, the same every time. */
export function seededFractions(seed: number): () => number {
  const { below } = seededRandom(seed)
  return () => below(2 ** 32) / 2 ** 32
}

/** `length` bytes that begin with zeros and end with the number: never the same for two numbers. */
export function numberedBytes(number: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32BE(number, length - 4)
  return new Uint8Array(bytes)
}

/** A temporary database, gone when the test is. */
export function temporaryDatabase(t: { after(callback: () => void | Promise<void>): void }): Database {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  return db
}

/** Writes blocks from `firstBlock` on after those that are stored, each with its logs by transaction, as plain rows;
 *  gives the logs in order. Headers are zeros: log queries look only at numbers, hashes and times. */
export function writeLogs(db: Database, firstBlock: number, blocks: Log[][][]): PlacedLog[] {
  const rows = prepareRows(db)
  const placed: PlacedLog[] = []
  const count = (table: string) => db.prepare(`SELECT ifnull(max(id) + 1, 0) FROM ${table}`).pluck().get() as number
  let txId = count('transactions')
  let logId = count('logs')
  db.transaction(() => {
    for (const [i, transactions] of blocks.entries()) {
      const number = firstBlock + i
      const firstLog = logId
      const firstTx = txId
      for (const [transactionIndex, logs] of transactions.entries()) {
        const transactionHash = numberedBytes(1_000_000 + txId, 32)
        rows.transaction(txId++, transactionHash, number)
        for (const log of logs) {
          placed.push({ ...log, blockNumber: number, transactionIndex, transactionHash, logIndex: logId - firstLog })
          rows.log(logId++, transactionIndex, log)
        }
      }
      rows.block({ number, firstTx, firstLog, txCount: transactions.length, logCount: logId - firstLog })
    }
  })()
  return placed
}

/** The hash that `writeLogs` gives a block. */
export function hashOfBlock(number: number): Uint8Array {
  return numberedBytes(2_000_000 + number, 32)
}

function prepareRows(db: Database) {
  const block = db.prepare(
    `INSERT INTO blocks (number, hash, parent_hash, uncles_hash, miner, state_root, transactions_root, receipts_root,
       difficulty, total_difficulty, gas_limit, gas_used, timestamp, extra_data, mix_hash, nonce, size,
       first_tx, n_tx, first_log, n_logs)
     VALUES (?, ?, x'', x'', x'', x'', x'', x'', 0, 0, 0, 0, ?, x'', x'', x'', 0, ?, ?, ?, ?)`,
  )
  const transaction = db.prepare(
    `INSERT INTO transactions (id, hash, block_number, type, sender, nonce, gas_limit, value, input, v, r, s)
     VALUES (?, ?, ?, 0, x'', 0, 0, 0, x'', 0, x'', x'')`,
  )
  const log = db.prepare('INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const address = dictionary(db, 'addresses', 'address')
  const topic = dictionary(db, 'topics', 'topic')
  return {
    block: (b: { number: number; firstTx: number; txCount: number; firstLog: number; logCount: number }) =>
      block.run(
        b.number,
        hashOfBlock(b.number),
        encodeUint(BigInt(b.number * 12)),
        b.firstTx,
        b.txCount,
        b.firstLog,
        b.logCount,
      ),
    transaction: (id: number, hash: Uint8Array, blockNumber: number) => transaction.run(id, hash, blockNumber),
    log: (id: number, txIndex: number, { address: from, topics, data }: Log) => {
      const trimmed = [1, 2, 3].map((i) => (topics[i] ? trimLeft(topics[i]) : null))
      const topic0 = topics[0] ? topic(topics[0]) : null
      const length = data.length === 32 ? null : data.length
      log.run(id, txIndex, address(from), topic0, ...trimmed, trimLeft(data), length)
    },
  }
}

function dictionary(db: Database, table: string, column: string): (value: Uint8Array) => number {
  const select = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const insert = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const ids = new Map<string, number>()
  return (value) => {
    const text = Buffer.from(value).toString('latin1')
    const known = ids.get(text)
    if (known !== undefined) return known
    const id = (select.get(value) as number | undefined) ?? Number(insert.run(value).lastInsertRowid)
    ids.set(text, id)
    return id
  }
}
