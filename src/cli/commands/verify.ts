import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import { openForReading, requireCurrentSchema } from '../../store/open.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn verify --index`: fails with the first difference. It only reads, so that a signal may end it at any moment. */
export async function runVerify({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help verify'`)
  if (!config.index) throw new UsageError("say what to verify: --index; see 'cairn help verify'")
  const { CHAIN_INDEXES } = await import('../../ingest/chainIndexer.js')
  const { describeIndex } = await import('../../segments/indexSummary.js')
  const { verifyIndex } = await import('../../segments/verifyIndex.js')
  const only = config.segments
  const db = openForReading(config.datadir)
  try {
    requireCurrentSchema(db)
    for (const kind of CHAIN_INDEXES) {
      if (only && only.item !== kind.item) continue
      const { name, items } = kind
      const { sealed, tail } = describeIndex(db, kind)
      const progress = createProgress({ label: name, unit: items, total: only ? undefined : sealed })
      const done = verifyIndex(db, kind, { segment: only?.id, onProgress: (count) => progress.update(count) })
      progress.finish()
      const words = `${done.segments} segments with ${done.items} ${items} and ${done.postings} postings are right`
      process.stdout.write(`${name}: ${words}; ${tail} ${items} in the tail\n`)
    }
  } finally {
    db.close()
  }
  return 0
}
