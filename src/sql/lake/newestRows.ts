import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import type { ColumnType, Row } from '../../export/columns.js'
import { fitted, LAKE_VIEWS, selectView, type ViewColumns } from '../../export/datasets/views.js'
import type { Database } from '../../store/database.js'
import { NotForDuckDb } from './kinds.js'
import type { DuckDbModule } from './loadDuckDb.js'

// A chunk has this many rows at most.
const CHUNK_ROWS = 2_048

const SQL_TYPES: { readonly [K in ColumnType]?: string } = { i64: 'BIGINT', f64: 'DOUBLE', string: 'VARCHAR' }

/** Blocks whose rows a table has. */
interface Loaded {
  readonly after: number
  readonly last: number
  readonly lastHash: Uint8Array
}

/** The rows of the blocks above the lake, in tables of DuckDB. They stay between queries: only what is new is read. */
export class NewestRows {
  readonly #module: DuckDbModule
  readonly #connection: DuckDBConnection
  readonly #loaded = new Map<string, Loaded>()

  constructor(module: DuckDbModule, connection: DuckDBConnection) {
    this.#module = module
    this.#connection = connection
  }

  /** Returns the name of the table for a view. */
  static tableOf(view: string): string {
    return `newest_${view}`
  }

  async createTables(): Promise<void> {
    for (const { name, columns } of LAKE_VIEWS) {
      const defined = columns.map((column) => `"${column.name}" ${SQL_TYPES[column.type]}`)
      await this.#connection.run(`CREATE TABLE ${NewestRows.tableOf(name)} (${defined.join(', ')})`)
    }
  }

  /** Removes all rows. */
  async clear(): Promise<void> {
    for (const name of this.#loaded.keys()) await this.#remove(name)
  }

  /** Reads the blocks above `after` of these views, up to the head of the database. Call it in a snapshot.
   *  @throws NotForDuckDb if they are too many; UnfitForLake */
  async load(
    db: Database,
    { after, views, maxBlocks }: { after: number; views: readonly ViewColumns[]; maxBlocks: number },
  ): Promise<void> {
    const head = db
      .prepare<[], { number: number; hash: Uint8Array }>('SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1')
      .get()!
    if (head.number - after > maxBlocks) {
      throw new NotForDuckDb(
        `the lake ends at block ${after}, ${head.number - after} below the head; extend it with 'cairn sql --lake auto'`,
      )
    }
    for (const view of views) {
      const from = await this.#resume(db, view.name, after)
      try {
        if (from <= head.number) await this.#append(view, rowsOf(db, view, { from, to: head.number }))
        this.#loaded.set(view.name, { after, last: head.number, lastHash: head.hash })
      } catch (error) {
        await this.#remove(view.name) // a part of the rows may be there
        throw error
      }
    }
  }

  /** Returns the first block to read. Removes all rows after a reorg of blocks that were read. */
  async #resume(db: Database, name: string, after: number): Promise<number> {
    const loaded = this.#loaded.get(name)
    if (loaded === undefined) return after + 1
    const hash = db.prepare<[number], Uint8Array>('SELECT hash FROM blocks WHERE number = ?').pluck().get(loaded.last)
    if (loaded.after === after && hash !== undefined && Buffer.compare(hash, loaded.lastHash) === 0)
      return loaded.last + 1
    await this.#remove(name)
    return after + 1
  }

  async #remove(name: string): Promise<void> {
    this.#loaded.delete(name)
    await this.#connection.run(`DELETE FROM ${NewestRows.tableOf(name)}`)
  }

  async #append({ name, columns }: ViewColumns, rows: Iterable<Row>): Promise<void> {
    const { DuckDBDataChunk, BIGINT, DOUBLE, VARCHAR } = this.#module
    const types = columns.map(({ type }): DuckDBType => (type === 'i64' ? BIGINT : type === 'f64' ? DOUBLE : VARCHAR))
    const appender = await this.#connection.createAppender(NewestRows.tableOf(name))
    let group: DuckDBValue[][] = columns.map(() => [])
    const write = () => {
      const chunk = DuckDBDataChunk.create(types, group[0].length)
      chunk.setColumns(group)
      appender.appendDataChunk(chunk)
      group = columns.map(() => [])
    }
    for (const row of rows) {
      for (let i = 0; i < columns.length; i++) {
        const cell = row[i]
        group[i].push(columns[i].type === 'i64' && typeof cell === 'number' ? BigInt(cell) : (cell as DuckDBValue))
      }
      if (group[0].length === CHUNK_ROWS) write()
    }
    if (group[0].length > 0) write()
    appender.closeSync()
  }
}

function* rowsOf(db: Database, view: ViewColumns, { from, to }: { from: number; to: number }): Generator<Row> {
  for (const row of db.prepare<[number, number], Row>(selectView(view)).raw().iterate(from, to)) yield fitted(view, row)
}
