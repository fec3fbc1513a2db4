import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { createNewest, deleteNewest, newestTable } from '../../store/sql/lakeSql.js'
import { LAKE_VIEWS, type LakeView, type ViewReader, type ViewValue } from '../../store/sql/lakeViews.js'
import { NotForDuckDb } from './kinds.js'
import type { DuckDbModule } from './loadDuckDb.js'

// A chunk has this many rows at most.
const CHUNK_ROWS = 2_048

/** Blocks whose rows a table has. */
interface Loaded {
  readonly after: number
  readonly last: number
  readonly lastHash: string
}

/** The rows of the blocks above the lake, in tables of DuckDB. They stay between queries: only what is new is read. */
export class NewestRows {
  readonly #module: DuckDbModule
  readonly #connection: DuckDBConnection
  readonly #loaded = new Map<LakeView, Loaded>()

  constructor(module: DuckDbModule, connection: DuckDBConnection) {
    this.#module = module
    this.#connection = connection
  }

  async createTables(): Promise<void> {
    for (const view of LAKE_VIEWS) await this.#connection.run(createNewest(view))
  }

  /** Removes all rows. */
  async clear(): Promise<void> {
    for (const view of this.#loaded.keys()) await this.#remove(view)
  }

  /** Reads the blocks above `after` of these views, up to the head of the database. Call it in a snapshot.
   *  @throws NotForDuckDb if they are too many; UnfitForLake */
  async load(
    reader: ViewReader,
    { after, views, maxBlocks }: { after: number; views: readonly LakeView[]; maxBlocks: number },
  ): Promise<void> {
    const last = reader.head()!
    if (last - after > maxBlocks) {
      throw new NotForDuckDb(
        `the lake ends at block ${after}, ${last - after} below the head; extend it with 'cairn sql --lake auto'`,
      )
    }
    for (const view of views) {
      const from = await this.#resume(reader, view, after)
      try {
        if (from <= last) await this.#append(view, reader.rows(view, from, last))
        this.#loaded.set(view, { after, last, lastHash: reader.hashAt(last)! })
      } catch (error) {
        await this.#remove(view) // a part of the rows may be there
        throw error
      }
    }
  }

  /** Returns the first block to read. Removes all rows after a reorg of blocks that were read. */
  async #resume(reader: ViewReader, view: LakeView, after: number): Promise<number> {
    const loaded = this.#loaded.get(view)
    if (loaded === undefined) return after + 1
    if (loaded.after === after && reader.hashAt(loaded.last) === loaded.lastHash) return loaded.last + 1
    await this.#remove(view)
    return after + 1
  }

  async #remove(view: LakeView): Promise<void> {
    this.#loaded.delete(view)
    await this.#connection.run(deleteNewest(view))
  }

  async #append(view: LakeView, rows: Iterable<readonly ViewValue[]>): Promise<void> {
    const { DuckDBDataChunk, BIGINT, DOUBLE, VARCHAR } = this.#module
    const columns = [...view.columns, ...view.derived]
    const types = columns.map(({ type }) => ({ integer: BIGINT, real: DOUBLE, text: VARCHAR })[type])
    const appender = await this.#connection.createAppender(newestTable(view))
    let group: DuckDBValue[][] = columns.map(() => [])
    const write = () => {
      const chunk = DuckDBDataChunk.create(types, group[0].length)
      chunk.setColumns(group)
      appender.appendDataChunk(chunk)
      group = columns.map(() => [])
    }
    try {
      for (const row of rows) {
        for (let i = 0; i < columns.length; i++) {
          const value = row[i]
          group[i].push(columns[i].type === 'integer' && value !== null ? BigInt(value) : value)
        }
        if (group[0].length === CHUNK_ROWS) write()
      }
      if (group[0].length > 0) write()
    } finally {
      appender.closeSync()
    }
  }
}
