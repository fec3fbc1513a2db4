import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import type { IndexKind } from '../../segments/indexKind.js'
import type { ReindexSummary } from '../../segments/reindex.js'
import { DATABASE_FILE, DatabaseMissing } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import { truncateWriteAheadLog } from '../../store/writeAheadLog.js'
import type { ParsedArgs } from '../parseArgs.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn reindex`. SIGINT and SIGTERM end it after the current transaction, with exit code 130 and 143; what was rebuilt
 *  stays. */
export async function runReindex({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help reindex'`)
  const path = join(config.datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const { CHAIN_INDEXES } = await import('../../ingest/chainIndexer.js')
  const { rebuildIndex } = await import('../../segments/reindex.js')
  const stop = listenForStop()
  const db = openForWriting(config.datadir)
  let isComplete = true
  try {
    for (const kind of CHAIN_INDEXES) {
      if (stop.signal.aborted) isComplete = false
      if (!isComplete) break
      const total = kind.openStored(db).count()
      const progress = createProgress({ label: kind.name, unit: kind.items, total })
      const summary = await rebuildIndex(db, kind, { progress, signal: stop.signal })
      progress.finish()
      isComplete = !summary.interrupted
      process.stdout.write(`${formatSummary(kind, summary)}\n`)
    }
    truncateWriteAheadLog(db)
  } finally {
    db.close()
    stop.close()
  }
  return isComplete ? 0 : stop.exitCode()
}

function formatSummary({ name, items }: IndexKind<unknown>, summary: ReindexSummary): string {
  const { segments, sealed, tail, interrupted } = summary
  const words = `${name}: ${segments} segments with ${sealed} ${items}, ${tail} ${items} in the tail`
  return interrupted ? `${words}; interrupted: an import, or running it again, completes the index` : words
}
