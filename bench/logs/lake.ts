import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createDatabaseSession } from '../../src/cli/sql/session.js'
import { noProgress } from '../../src/lib/progress.js'
import { extendLake } from '../../src/sql/lake/extendLake.js'
import { LakeEngine } from '../../src/sql/lake/lakeEngine.js'
import { findDuckDb } from '../../src/sql/lake/loadDuckDb.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { quantile } from '../lib/client.js'
import { ANALYST_QUERIES } from './analystQueries.js'
import { exportDataset } from './exportDataset.js'
import { cairnFolder } from './fill.js'
import type { LogsRun } from './options.js'
import { openFilled } from './phases.js'
import { areSameRows } from './sameRows.js'

/** Exports the filled database to Parquet, checks the files against SQL, and times the analyst queries on the SQLite
 *  views and in DuckDB on the files. @throws Error where they differ */
export async function measureLake(run: LogsRun) {
  const datadir = cairnFolder((await run.once(openFilled)).directory)
  const lake = join(run.directory, 'lake')
  const exported: { [dataset: string]: Awaited<ReturnType<typeof exportDataset>> } = {}
  for (const name of ['logs', 'erc20-transfers', 'blocks', 'transactions', 'receipts']) {
    exported[name] = await exportDataset(datadir, lake, name)
  }
  const db = openForReading(datadir)
  const duckdb = await openLake(lake)
  try {
    await compareRows(db, duckdb)
    const addresses = await compareCounts(db, duckdb)
    const runs = Math.min(run.values.runs, MOST_RUNS)
    const own = await openOwn(datadir, join(run.directory, 'views'))
    try {
      const { lakeCpuSeconds } = own
      return {
        exported,
        lakeCpuSeconds,
        comparedAddresses: addresses,
        queries: await timeQueries(db, { lake: duckdb, own, runs }),
      }
    } finally {
      own.close()
    }
  } finally {
    db.close()
    duckdb.close()
  }
}

/** DuckDB with a view for each dataset. */
async function openLake(lake: string) {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '8GB' })
  const connection = await instance.connect()
  for (const name of ['blocks', 'transactions', 'receipts', 'logs', 'erc20_transfers']) {
    await connection.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet('${lake}/*__${name}__*.parquet')`)
  }
  return {
    rows: async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson(),
    /** The one column of the rows as text, in parts. */
    async *texts(sql: string) {
      const result = await connection.stream(sql)
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) return
        yield* chunk.getColumnValues(0) as string[]
      }
    },
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
type Lake = Awaited<ReturnType<typeof openLake>>

const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3']
const LOG_COLUMNS = ['block_number', 'transaction_index', 'log_index', 'transaction_hash', 'address', ...TOPICS, 'data']

/** Compares all rows of `logs` with those of `v_logs`, each as a line of text. @throws Error if they differ */
async function compareRows(db: Database, lake: Lake): Promise<void> {
  const hex = (name: string) => (LOG_COLUMNS.indexOf(name) < 3 ? name : `coalesce('0x' || lower(hex(${name})), '')`)
  const parquet = createHash('sha256')
  const order = 'ORDER BY block_number, log_index'
  for await (const line of lake.texts(`SELECT concat_ws(',', ${LOG_COLUMNS.map(hex).join(', ')}) FROM logs ${order}`)) {
    parquet.update(line)
  }
  const sql = createHash('sha256')
  const select = db.prepare<[], string>(
    `SELECT ${LOG_COLUMNS.map((name) => `ifnull(${name}, '')`).join(" || ',' || ")} FROM v_logs`,
  )
  for (const line of select.pluck().iterate()) sql.update(line)
  if (parquet.digest('hex') !== sql.digest('hex')) throw new Error('the rows of the files are not those of v_logs')
}

/** Compares how many logs of an address are found: of frequent and of rare ones. @returns how many addresses
 *  @throws Error if they differ */
async function compareCounts(db: Database, lake: Lake): Promise<number> {
  const counts = db
    .prepare<[], { address: string; n: number }>(
      `SELECT hex(a.address) AS address, count(*) AS n FROM logs l JOIN addresses a ON a.id = l.address_id
       GROUP BY l.address_id ORDER BY n DESC`,
    )
    .all()
  const chosen = [...counts.slice(0, 10), ...counts.filter((_, i) => i % Math.ceil(counts.length / 40) === 0)]
  for (const { address, n } of chosen) {
    const [[found]] = await lake.rows(`SELECT count(*) FROM logs WHERE address = from_hex('${address}')`)
    if (Number(found) !== n) throw new Error(`0x${address}: ${found} logs in DuckDB, ${n} in SQL`)
  }
  return chosen.length
}

/** `cairn sql --engine duckdb` on a lake that is made for it: its session, whose process is running, and its engine in
 *  this process. `lakeCpuSeconds`: of making the lake. */
async function openOwn(datadir: string, directory: string) {
  const cpu = process.cpuUsage()
  const { signal } = new AbortController()
  await extendLake(datadir, directory, { signal, observer: { begin: () => noProgress } })
  const lakeCpuSeconds = cpuMs(cpu) / 1000
  const settings = { directory, duckdb: findDuckDb()! }
  const session = createDatabaseSession(datadir, { ...settings, engine: 'duckdb' })
  const engine = await LakeEngine.open(settings)
  const db = openForQueries(datadir, () => [])
  return {
    lakeCpuSeconds,
    async ask(sql: string): Promise<unknown[][]> {
      const rows: unknown[][] = []
      for await (const { values } of session.run(sql)) rows.push(...(values as unknown[][]))
      return rows
    },
    /** Processor time of a query. */
    async cpuMs(sql: string): Promise<number> {
      const before = process.cpuUsage()
      const { rows } = await engine.run(db, sql)
      for await (const _ of rows);
      return cpuMs(before)
    },
    close() {
      session.close()
      engine.close()
      db.close()
    },
  }
}
type OwnLake = Awaited<ReturnType<typeof openOwn>>

function cpuMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Of each query, at most. */
const MOST_RUNS = 9

/** Medians of milliseconds; SQLite's of one run, which takes seconds. `cairn`: SQLite's text in `cairn sql --engine
 *  duckdb`. The ratios are to DuckDB on the files of `cairn export`. */
async function timeQueries(db: Database, { lake, own, runs }: { lake: Lake; own: OwnLake; runs: number }) {
  const results: { [figure: string]: number | string }[] = []
  for (const { name, sqlite, duckdb } of ANALYST_QUERIES) {
    const started = performance.now()
    const rows = db.prepare<[], unknown[]>(sqlite).raw().all()
    const sqliteMs = performance.now() - started
    const taken = { duckdbMs: [], duckdbCpuMs: [], cairnMs: [], cairnCpuMs: [] } as { [figure: string]: number[] }
    let [found, asked]: unknown[][] = []
    for (let run = 0; run < runs; run++) {
      const [before, cpu] = [performance.now(), process.cpuUsage()]
      found = await lake.rows(duckdb)
      taken.duckdbCpuMs.push(cpuMs(cpu))
      const between = performance.now()
      asked = await own.ask(sqlite)
      taken.duckdbMs.push(between - before)
      taken.cairnMs.push(performance.now() - between)
      taken.cairnCpuMs.push(await own.cpuMs(sqlite))
    }
    if (!areSameRows(rows, found as unknown[][])) throw new Error(`${name}: DuckDB and SQLite differ`)
    if (!areSameRows(rows, asked as unknown[][]))
      throw new Error(`${name}: cairn sql --engine duckdb and SQLite differ`)
    const medians = Object.fromEntries(Object.entries(taken).map(([figure, times]) => [figure, quantile(times, 0.5)]))
    const ratio = medians.cairnMs / medians.duckdbMs
    results.push({ name, sqliteMs, ...medians, ratio, cpuRatio: medians.cairnCpuMs / medians.duckdbCpuMs })
  }
  return results
}
