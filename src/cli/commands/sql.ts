import { UsageError } from '../../lib/errors.js'
import { openForReading } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'
import { createPrinter, type SqlFormat } from '../sql/printer.js'
import { createDatabaseSession, type SqlSession } from '../sql/session.js'

/** `cairn sql ["QUERY"]`. Returns 1 if a query failed. */
export async function runSql({ config, operands }: ParsedArgs): Promise<number> {
  const [query, ...surplus] = operands
  if (surplus.length > 0) throw new UsageError(`unexpected operand '${surplus[0]}'; put the query in quotes`)
  const isTerminal = process.stdout.isTTY === true
  const format: SqlFormat = config.sqlFormat ?? (isTerminal ? 'table' : 'csv')
  const session = await openSession(config)
  try {
    if (query === undefined) {
      const { runPrompt } = await import('../sql/prompt.js')
      return await runPrompt(session, { format, input: process.stdin, output: process.stdout })
    }
    const printer = createPrinter(process.stdout)
    await printer.print(session.run(query), format)
    return 0
  } finally {
    session.close()
  }
}

async function openSession({ datadir, lake }: { datadir: string; lake: string | undefined }): Promise<SqlSession> {
  if (lake !== undefined) return (await import('../sql/lake.js')).openLake(lake)
  openForReading(datadir).close() // reports a bad database before a process is started
  return createDatabaseSession(datadir)
}
