import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { IndexKind } from '../../index/segments/indexKind.js'
import type { ReindexSummary } from '../../index/segments/reindex.js'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import type { Database } from '../../store/database.js'
import { DATABASE_FILE, DatabaseMissing } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import { truncateWriteAheadLog } from '../../store/writeAheadLog.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printSummary } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'

/** `cairn reindex`. SIGINT and SIGTERM end it after the current transaction, with exit codes 130 and 143; rebuilt parts
 *  are kept. */
export async function runReindex({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help reindex'`)
  const path = join(config.datadir, DATABASE_FILE)
  if (!existsSync(path)) throw new DatabaseMissing(path)
  const { CHAIN_INDEXES } = await import('../../sync/chainIndexer.js')
  const { rebuildIndex } = await import('../../index/segments/reindex.js')
  const stop = listenForStop()
  const db = openForWriting(config.datadir)
  let isComplete = true
  const indexes: object[] = []
  try {
    const { signal } = stop
    const steps = [
      () => !config.addressIndex || fillAddressIndex(db, config, signal),
      () => !config.fillTraces || fillTraceIndex(db, config, signal),
      ...CHAIN_INDEXES.map((kind) => async () => {
        const progress = createProgress({ label: kind.name, unit: kind.items, total: kind.openStored(db).count() })
        const summary = await rebuildIndex(db, kind, { progress, signal })
        progress.finish()
        indexes.push({ name: kind.name, ...summary })
        if (!config.json) printSummary(formatSummary(kind, summary))
        return !summary.interrupted
      }),
    ]
    for (const step of steps) isComplete &&= !signal.aborted && (await step())
    truncateWriteAheadLog(db)
    if (config.json) printSummary(JSON.stringify({ indexes, interrupted: !isComplete }))
  } finally {
    db.close()
    stop.close()
  }
  return isComplete ? 0 : stop.exitCode()
}

/** Brings the address index up to the head; false if it was interrupted. */
async function fillAddressIndex(db: Database, { json }: Config, signal: AbortSignal): Promise<boolean> {
  const { appearanceGap, fillAppearances } = await import('../../sync/fillAppearances.js')
  const total = appearanceGap(db)
  if (total === 0) return true
  const progress = createProgress({ label: 'addresses', unit: 'blocks', total })
  const isComplete = await fillAppearances(db, { progress, signal })
  progress.finish()
  if (!isComplete && !json) printSummary("address index: interrupted; 'cairn reindex' resumes it")
  return isComplete
}

/** Brings the trace index up to the head; false if it was interrupted. */
async function fillTraceIndex(db: Database, { json }: Config, signal: AbortSignal): Promise<boolean> {
  const { fillTraces, traceGap } = await import('../../sync/fillTraces.js')
  const progress = createProgress({ label: 'traces', unit: 'blocks', total: traceGap(db) })
  const isComplete = await fillTraces(db, { progress, signal })
  progress.finish()
  if (!json) {
    printSummary(
      isComplete ? 'trace index: all blocks' : "trace index: interrupted; 'cairn reindex --traces' resumes it",
    )
  }
  return isComplete
}

function formatSummary({ name, items }: IndexKind<unknown>, summary: ReindexSummary): string {
  const { segments, sealed, tail, interrupted } = summary
  const words = `${name}: ${segments} segments with ${sealed} ${items}, ${tail} ${items} in the tail`
  return interrupted ? `${words}; interrupted: an import, or running it again, completes the index` : words
}
