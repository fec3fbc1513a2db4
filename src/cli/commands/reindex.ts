import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import type { ReindexSummary } from '../../logs/reindex.js'
import { DATABASE_FILE, DatabaseMissing, openForWriting } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn reindex`. SIGINT and SIGTERM end it after the transaction under way; what was rebuilt stays. */
export async function runReindex({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help reindex'`)
  const path = join(config.datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const { rebuildLogIndex } = await import('../../logs/reindex.js')
  const { createStoredLogs } = await import('../../logs/storedLogs.js')
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const db = openForWriting(config.datadir)
  try {
    const progress = createProgress({ label: 'log index', unit: 'logs', total: createStoredLogs(db).count() })
    const summary = await rebuildLogIndex(db, { progress, signal: stop.signal })
    progress.finish()
    // Readers that open next find a small write-ahead log.
    db.pragma('wal_checkpoint(TRUNCATE)')
    process.stdout.write(`${formatSummary(summary)}\n`)
  } finally {
    db.close()
  }
  return 0
}

function formatSummary({ segments, sealedLogs, tailLogs, interrupted }: ReindexSummary): string {
  const words = `${segments} segments with ${sealedLogs} logs, ${tailLogs} logs in the tail`
  return interrupted ? `${words}; interrupted: an import, or running it again, completes the index` : words
}
