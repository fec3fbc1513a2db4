import type { AuditPart } from '../../audit/database.js'
import { UsageError } from '../../lib/errors.js'
import { createProgress } from '../../lib/progress.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printSummary } from '../standardStreams.js'

/** `cairn verify`: checks the whole database, or the parts selected by options. Fails at the first fault. Only reads,
 *  so a signal may end it at any time. */
export async function runVerify({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help verify'`)
  const { AUDIT_PARTS, auditDatabase } = await import('../../audit/database.js')
  const { datadir, to, segments: segment } = config
  const from = firstBlock(config)
  auditDatabase(datadir, {
    parts: chooseParts(AUDIT_PARTS, config),
    from,
    to,
    segment,
    startProgress: (label, unit, total) => createProgress({ label, unit, total }),
    report: printSummary,
  })
  return 0
}

function chooseParts(all: readonly AuditPart[], config: Config): readonly AuditPart[] {
  const named = all.filter((part) => config[part])
  const { to, segments } = config
  const from = firstBlock(config)
  if ((from !== undefined || to !== undefined) && !named.includes('blocks')) {
    throw new UsageError('--from and --to are for --blocks; give that, too')
  }
  if (from !== undefined && to !== undefined && from > to) throw new UsageError(`--from ${from} is above --to ${to}`)
  if (segments && !named.includes('index')) throw new UsageError('--segments is for --index; give that, too')
  return named.length === 0 ? all : named
}

function firstBlock({ from }: Config): number | undefined {
  if (typeof from !== 'string') return from
  throw new UsageError(`--from ${from}: verify needs a block number`)
}
