import { ExportLocked } from '../../export/errors.js'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import { chooseLake } from '../../sql/lake/chooseLake.js'
import type { LakeChoice } from '../../sql/protocol.js'
import { openForReading } from '../../store/open.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'
import { createPrinter, type SqlFormat } from '../sql/printer.js'
import { createDatabaseSession, type SqlSession } from '../sql/session.js'

/** `cairn sql ["QUERY"]`. Returns 1 if a query failed. */
export async function runSql({ config, operands }: ParsedArgs): Promise<number> {
  const [query, ...surplus] = operands
  if (surplus.length > 0) throw new UsageError(`unexpected operand '${surplus[0]}'; put the query in quotes`)
  const isTerminal = process.stdout.isTTY === true
  const format = chooseFormat(config, isTerminal)
  const session = await openSession(config)
  try {
    if (query === undefined) {
      const { runPrompt } = await import('../sql/prompt.js')
      return await runPrompt(session, { format, input: process.stdin, output: process.stdout })
    }
    const printer = createPrinter(process.stdout)
    const { summary, engine } = await printer.print(session.run(query), format)
    if (engine === 'DuckDB' && format === 'table') process.stderr.write(`${summary}\n`)
    return 0
  } finally {
    session.close()
  }
}

/** @throws UsageError for --json beside another format */
function chooseFormat({ sqlFormat, json }: Config, isTerminal: boolean): SqlFormat {
  if (!json) return sqlFormat ?? (isTerminal ? 'table' : 'csv')
  if (sqlFormat === undefined || sqlFormat === 'json') return 'json'
  throw new UsageError(`--json is --format json, and --format is ${sqlFormat}; leave one out`)
}

async function openSession({ datadir, lake, engine, duckdb }: Config): Promise<SqlSession> {
  if (lake !== undefined && lake !== 'off' && lake !== 'auto') {
    const { isLake } = await import('../../sql/lake/lakeFiles.js')
    const { readManifest } = await import('../../export/manifest.js')
    if (!isLake(readManifest(lake))) return (await import('../sql/lake.js')).openLake(lake, duckdb)
  }
  openForReading(datadir).close() // reports a bad database before a process is started
  const chosen = chooseLake({ datadir, lake, engine: engine ?? 'auto', duckdb }, '--engine')
  if (chosen !== undefined && lake === 'auto') await extend(datadir, chosen)
  return createDatabaseSession(datadir, chosen)
}

/** Extends the lake before a query, unless another process does. */
async function extend(datadir: string, { directory, engine }: LakeChoice): Promise<void> {
  const { extendLake } = await import('../../sql/lake/extendLake.js')
  const { UnfitForLake } = await import('../../store/sql/lakeViews.js')
  const observer = { begin: (blocks: number) => createProgress({ label: 'lake', unit: 'blocks', total: blocks }) }
  try {
    await extendLake(datadir, directory, { signal: new AbortController().signal, observer })
  } catch (error) {
    if (error instanceof ExportLocked || (error instanceof UnfitForLake && engine === 'auto')) return
    throw error
  }
}
