import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance, DuckDBResult, DuckDBValue } from '@duckdb/node-api'
import { MANIFEST, type Manifest, readManifest } from '../../export/manifest.js'
import { messageOf } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import { createLakeViews, FROM_TREE, LAKE_MACROS, lakeSettings, TO_TREE } from '../../store/sql/lakeSql.js'
import { createViewReader, LAKE_VIEWS, type ViewReader } from '../../store/sql/lakeViews.js'
import { columnsOf, type SqlValue } from '../../store/sql/runQuery.js'
import { parseTree } from './ast.js'
import { checkNames } from './checkNames.js'
import { NotForDuckDb } from './kinds.js'
import { lakeOf } from './lakeFiles.js'
import { type DuckDbModule, loadDuckDb } from './loadDuckDb.js'
import { NewestRows } from './newestRows.js'
import { translate } from './translate.js'

/** Where the lake and DuckDB are, and what a query may take. */
export interface LakeSettings {
  readonly directory: string
  /** Path of the module. */
  readonly duckdb: string
  /** Default: what DuckDB takes by itself. */
  readonly memoryBytes?: number
  readonly threads?: number
}

/** A query that runs in DuckDB. */
export interface LakeQuery {
  readonly columns: readonly string[]
  readonly rows: AsyncGenerator<readonly SqlValue[]>
}

/** Most blocks above the lake that are read from SQLite. */
const MAX_NEW_BLOCKS = 20_000

/** DuckDB over the lake and the newest blocks of the database: the views of docs/sql.md. It reads no other file, and
 *  its settings cannot be changed. */
export class LakeEngine {
  readonly #module: DuckDbModule
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection
  readonly #directory: string
  readonly #newest: NewestRows
  #manifest: { version: string; content: Manifest } | undefined
  /** The lake that the views have. */
  #viewed: string | undefined

  private constructor(
    opened: { module: DuckDbModule; instance: DuckDBInstance; connection: DuckDBConnection },
    directory: string,
  ) {
    this.#module = opened.module
    this.#instance = opened.instance
    this.#connection = opened.connection
    this.#directory = directory
    this.#newest = new NewestRows(opened.module, opened.connection)
  }

  /** Loads DuckDB. @throws UsageError if it does not load */
  static async open({ directory, duckdb, memoryBytes, threads }: LakeSettings): Promise<LakeEngine> {
    const module = loadDuckDb(duckdb)
    const limits: Record<string, string> = { temp_directory: '' }
    if (memoryBytes !== undefined) limits.memory_limit = `${Math.floor(memoryBytes / 2 ** 20)}MiB`
    if (threads !== undefined) limits.threads = String(threads)
    const instance = await module.DuckDBInstance.create(':memory:', limits)
    const connection = await instance.connect()
    const engine = new LakeEngine({ module, instance, connection }, resolve(directory))
    await engine.#newest.createTables()
    for (const sql of [...LAKE_MACROS, ...lakeSettings(engine.#directory)]) await connection.run(sql)
    return engine
  }

  /** Runs one statement that reads, on the chain as it is in one snapshot of the database; its first rows are computed.
   *  @throws NotForDuckDb if DuckDB cannot answer it, or not as SQLite does; what DuckDB throws */
  async run(db: Database, sql: string): Promise<LakeQuery> {
    const columns = columnsOf(db, sql)
    const text = await this.#toDuckDb(sql, columns !== undefined)
    const reader = createViewReader(db)
    await reader.inSnapshot(() => this.#refresh(reader, sql))
    try {
      return await this.#start(text, columns)
    } catch (error) {
      // The file was replaced by a longer one after the manifest was read.
      if (!/No files found|Cannot open file/.test(messageOf(error))) throw error
      await reader.inSnapshot(() => this.#refresh(reader, sql))
      return this.#start(text, columns)
    }
  }

  close(): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }

  /** Returns the statement for DuckDB. Where SQLite accepts it too, its result there is the measure. */
  async #toDuckDb(sql: string, isForBoth: boolean): Promise<string> {
    const tree = parseTree(await this.#text(TO_TREE, isForBoth ? renameDate(sql) : sql))
    if (tree.error) throw new NotForDuckDb(tree.error_message ?? 'DuckDB cannot parse it')
    const [statement, surplus] = tree.statements
    if (statement === undefined || surplus !== undefined) throw new NotForDuckDb('expected one statement')
    checkNames(statement.node)
    if (!isForBoth) return sql
    translate(statement.node)
    return this.#text(FROM_TREE, JSON.stringify(tree))
  }

  async #text(sql: string, argument: string): Promise<string> {
    const result = await this.#connection.runAndReadAll(sql, [argument])
    return String(result.getRows()[0][0])
  }

  /** Brings views and new rows to the state of the database. */
  async #refresh(reader: ViewReader, sql: string): Promise<void> {
    const lake = lakeOf(reader, this.#directory, this.#readManifest())
    if (lake === undefined) {
      throw new NotForDuckDb(
        `no lake of this chain is in ${this.#directory}; 'cairn sql --lake auto' or 'cairn serve --lake auto' makes one`,
      )
    }
    const { head, headHash, files } = lake
    const viewed = JSON.stringify([headHash, [...files.values()].map(({ paths }) => paths.at(-1))])
    if (viewed !== this.#viewed) {
      this.#viewed = undefined
      await this.#newest.clear()
      for (const view of LAKE_VIEWS) {
        const { paths, isLonger } = files.get(view.name)!
        const statements = createLakeViews(view, { paths, last: isLonger ? head : undefined })
        for (const statement of statements) await this.#connection.run(statement)
      }
      this.#viewed = viewed
    }
    const views = LAKE_VIEWS.filter(({ name }) => sql.toLowerCase().includes(name))
    await this.#newest.load(reader, { after: head, views, maxBlocks: MAX_NEW_BLOCKS })
  }

  #readManifest(): Manifest {
    const facts = statSync(join(this.#directory, MANIFEST), { throwIfNoEntry: false })
    const version = facts === undefined ? '' : `${facts.ino}:${facts.mtimeMs}:${facts.size}`
    if (this.#manifest?.version !== version) this.#manifest = { version, content: readManifest(this.#directory) }
    return this.#manifest.content
  }

  async #start(text: string, columns: readonly string[] | undefined): Promise<LakeQuery> {
    const result = await this.#connection.stream(text)
    const rows = this.#rows(result, columns !== undefined)
    const first = await rows.next()
    return { columns: columns ?? result.deduplicatedColumnNames(), rows: resumed(first, rows) }
  }

  async *#rows(result: DuckDBResult, isForBoth: boolean): AsyncGenerator<readonly SqlValue[]> {
    const { DuckDBTypeId } = this.#module
    const isReal = result
      .columnTypes()
      .map(({ typeId }) => typeId === DuckDBTypeId.DOUBLE || typeId === DuckDBTypeId.FLOAT)
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      for (const row of chunk.getRows()) yield row.map((value, i) => toSqlValue(value, isReal[i], isForBoth))
    }
  }
}

/** DuckDB's parser refuses `date` with two arguments. */
function renameDate(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\bdate\s*(?=\()/gi, (found) =>
    /^date/i.test(found) ? 'cairn_date' : found,
  )
}

async function* resumed<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done) return
  yield first.value
  yield* rest
}

/** Returns a value as SQLite has it: truth values are 0 and 1. @throws NotForDuckDb beyond 64 bits */
function toSqlValue(value: DuckDBValue, isReal: boolean, isForBoth: boolean): SqlValue {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'number') return isReal ? value : BigInt(value)
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'bigint') {
    if (isForBoth && BigInt.asIntN(64, value) !== value) throw new NotForDuckDb('an integer is beyond 64 bits')
    return value
  }
  return 'bytes' in value && value.bytes instanceof Uint8Array ? value.bytes : value.toString()
}
