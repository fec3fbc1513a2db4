import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import { openForReading } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn verify --index`: fails with the first difference. It only reads, so that a signal may end it at any moment. */
export async function runVerify({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help verify'`)
  if (!config.index) throw new UsageError("say what to verify: --index; see 'cairn help verify'")
  const { describeLogIndex } = await import('../../logs/indexSummary.js')
  const { verifyLogIndex } = await import('../../logs/verifyIndex.js')
  const db = openForReading(config.datadir)
  try {
    const { sealedLogs, tailLogs } = describeLogIndex(db)
    const total = config.segments === undefined ? sealedLogs : undefined
    const progress = createProgress({ label: 'log index', unit: 'logs', total })
    const done = verifyLogIndex(db, { segment: config.segments, onProgress: (logs) => progress.update(logs) })
    progress.finish()
    const words = `${done.segments} segments with ${done.logs} logs and ${done.postings} postings are right`
    process.stdout.write(`${words}; ${tailLogs} logs in the tail\n`)
  } finally {
    db.close()
  }
  return 0
}
