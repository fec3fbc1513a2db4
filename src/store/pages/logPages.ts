import { instantiate } from '../../wasm/assembler.js'
import { assembleLogPages, LOG_PAGES_MEMORY } from '../../wasm/logPagesModule.js'
import { DONE } from '../../wasm/logRecordCode.js'
import type { Database } from '../database.js'
import { selectBlockOfLog } from '../rows/blockOfLog.js'
import { BLOCK_ONLY, BLOCKS_OF_RANGE, IS_CROWDED, type LogRecordSource } from '../rows/logRecords.js'
import type { IdRange } from '../rows/rowFilter.js'
import { type DatabaseFile, isFileOf } from './databaseFile.js'
import { type PageLayout, readPageLayout, TablePages } from './tablePages.js'
import { WalPages } from './walPages.js'

/* Reads the rows of `logs` from the pages of the database file, without SQLite: a statement takes 0.7 µs a log, these
 * pages take 0.2. Two rules make that right:
 * - A page is read from the file only while a read transaction of the connection is open, and unless the write-ahead
 *   log has newer content: walPages.ts has the reasons.
 * - The descriptors are opened on the main thread and stay open: databaseFile.ts has the reasons.
 * Nothing that the file says is trusted. Blocks and hashes come by SQL in the same transaction, and the ids of the logs
 * must be exactly those that the blocks have. */

/** The columns that wasm/logPagesModule reads. */
const COLUMNS = ['id', 'tx_index', 'address_id', 'topic0_id', 'topic1', 'topic2', 'topic3', 'data', 'data_length']

/** Transactions to read for each log, at most: each takes a tenth of a log. */
const MAX_TRANSACTIONS = 4

const {
  parameters,
  range: rangeAt,
  end,
  blocks,
  blocksBytes,
  hashes,
  hashesBytes,
  pages,
  pagesBytes,
  output,
} = LOG_PAGES_MEMORY

/** The blocks of a range, packed, with what their logs need. */
type BlocksRow = [
  blocks: Uint8Array | null,
  covered: number | null,
  /** Ids of the first transactions of the first and of the last block. */
  first: number | null,
  last: number | null,
  /** Transaction indexes of the first and of the last log. */
  from: number | null,
  to: number | null,
  root: number | null,
]

/** Where the logs of a range and the hashes of their transactions are. */
interface LogsOfRange {
  /** Root page of the table. */
  readonly root: number
  readonly transactions: IdRange
}

const LOGS_IN_RANGE = 'min(b.first_log + b.n_logs, @to) - max(b.first_log, @from)'
const TX_INDEX = (id: string) => `(SELECT tx_index FROM logs WHERE id = ${id})`
const SELECT_BLOCKS = `
  SELECT CAST(group_concat(record, '') AS BLOB), sum(logs), min(first_tx), max(first_tx),
    ${TX_INDEX('@from')}, ${TX_INDEX('@to - 1')},
    (SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'logs' AND sql = @sql)
  FROM (
    SELECT char(max(b.first_log, @from) - b.first_log, iif(${IS_CROWDED}, 0, ${LOGS_IN_RANGE}),
      b.first_tx - (${selectBlockOfLog('@from', 'first_tx')})) || ${BLOCK_ONLY} AS record, ${LOGS_IN_RANGE} AS logs, b.first_tx
    ${BLOCKS_OF_RANGE} ORDER BY b.first_log)`
const SELECT_HASHES = `
  SELECT CAST((SELECT group_concat(hash, '') FROM (SELECT hash FROM transactions WHERE id >= ? AND id < ? ORDER BY id))
    AS BLOB)`

/** Creates a reader for a connection, which was opened after these descriptors of its database. It opens at the first
 *  read, and reads nothing where pages cannot be read: for a connection that writes, other files, a database that is
 *  not in WAL mode, another schema, without WebAssembly. */
export function createLogPages(db: Database, file: DatabaseFile): LogRecordSource {
  let reader: { readonly pages: LogRecordSource | undefined } | undefined
  return {
    read: (range) => {
      reader ??= { pages: openPages(db, file) }
      return reader.pages?.read(range)
    },
  }
}

function openPages(db: Database, file: DatabaseFile): LogRecordSource | undefined {
  if (!db.readonly || !isFileOf(db.name, file) || db.pragma('journal_mode', { simple: true }) !== 'wal')
    return undefined
  const sql = readLogsSql(db)
  if (sql === undefined) return undefined
  try {
    const layout = readPageLayout(file.pages)
    return layout && new PageReader(db, file, { layout, sql })
  } catch {
    return undefined
  }
}

/** Returns the statement that created the table; undefined if its columns are other ones. */
function readLogsSql(db: Database): string | undefined {
  const columns = db.prepare<[], string>("SELECT name FROM pragma_table_info('logs') ORDER BY cid").pluck().all()
  if (columns.join() !== COLUMNS.join()) return undefined
  return db.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'logs'").pluck().get()
}

/** Reads records of logs from the pages of the database file. They are read by SQL outside a transaction, when a page
 *  has newer content in the write-ahead log, and for whatever is not as expected. */
class PageReader implements LogRecordSource {
  readonly #db: Database
  readonly #layout: PageLayout
  readonly #sql: string
  readonly #wal: WalPages
  readonly #table: TablePages
  readonly #selectBlocks
  readonly #selectHashes
  readonly #encode: (pages: number) => number
  readonly #bytes: Uint8Array
  readonly #words: Uint32Array
  readonly #ids: BigUint64Array

  /** @throws Error without WebAssembly, or without enough memory */
  constructor(db: Database, file: DatabaseFile, { layout, sql }: { layout: PageLayout; sql: string }) {
    const { encode, memory } = instantiate<{ encode(pages: number): number }>(assembleLogPages())
    this.#db = db
    this.#layout = layout
    this.#sql = sql
    this.#wal = new WalPages(file, layout.pageBytes)
    this.#table = new TablePages(file.pages, layout, this.#wal)
    this.#selectBlocks = db.prepare<[{ from: number; to: number; sql: string }], BlocksRow>(SELECT_BLOCKS).raw()
    this.#selectHashes = db.prepare<[number, number], Uint8Array | null>(SELECT_HASHES).pluck()
    this.#encode = encode
    this.#bytes = new Uint8Array(memory.buffer)
    this.#words = new Uint32Array(memory.buffer)
    this.#ids = new BigUint64Array(memory.buffer)
  }

  read(range: IdRange): Uint8Array | undefined {
    if (!this.#db.inTransaction) return undefined
    // This statement starts the read transaction, if none did before: only now the write-ahead log is known.
    const found = this.#readBlocks(range)
    if (found === undefined) return undefined
    try {
      return this.#readLogs(found, range)
    } catch {
      return undefined // SQLite reads, or reports why not
    }
  }

  /** Writes the blocks of the range and the parameters into memory. */
  #readBlocks({ from, to }: IdRange): LogsOfRange | undefined {
    const row = this.#selectBlocks.get({ from, to, sql: this.#sql })!
    if (row.includes(null)) return undefined
    const [packed, covered, first, last, fromIndex, toIndex, root] = row as {
      [K in keyof BlocksRow]: NonNullable<BlocksRow[K]>
    }
    const transactions = { from: first + fromIndex, to: last + toIndex + 1 }
    const count = transactions.to - transactions.from
    if (covered !== to - from || packed.length > blocksBytes) return undefined
    if (count <= 0 || 32 * count > hashesBytes || count > MAX_TRANSACTIONS * (to - from)) return undefined
    this.#bytes.set(packed, blocks)
    const { pageBytes, usableBytes } = this.#layout
    this.#words.set([pageBytes, usableBytes, packed.length, count, fromIndex], parameters / 4)
    this.#ids.set([BigInt(from), BigInt(to)], rangeAt / 8)
    return { root, transactions }
  }

  /** Reads the leaf pages of the range and the hashes, and encodes the logs. */
  #readLogs({ root, transactions }: LogsOfRange, range: IdRange): Uint8Array | undefined {
    if (!this.#wal.update()) return undefined
    const leaves = this.#table.findLeaves(root, range, Math.floor(pagesBytes / this.#layout.pageBytes))
    if (leaves === undefined) return undefined
    const found = this.#selectHashes.get(transactions.from, transactions.to)
    if (found?.length !== 32 * (transactions.to - transactions.from)) return undefined
    this.#bytes.set(found, hashes)
    if (!this.#table.read(leaves, this.#bytes.subarray(pages, pages + pagesBytes))) return undefined
    if (this.#encode(leaves.length) !== DONE) return undefined
    return this.#bytes.subarray(output, this.#words[end / 4])
  }
}
