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
  const { json, againstUpstream } = config
  const reports: string[] = []
  const report = json ? (line: string) => void reports.push(line) : printSummary
  try {
    const parts = await audit(config, report)
    const upstream = againstUpstream === undefined ? null : await verifyAgainst(againstUpstream, config, report)
    if (json) printSummary(JSON.stringify({ ok: true, parts, reports, upstream }))
    return 0
  } catch (error) {
    const fault = json ? await describeFault(error) : undefined
    if (fault !== undefined) printSummary(JSON.stringify({ ok: false, reports, fault }))
    throw error
  }
}

/** Audits the chosen parts, and returns their names. */
async function audit(config: Config, report: (line: string) => void): Promise<readonly AuditPart[]> {
  const { AUDIT_PARTS, auditDatabase } = await import('../../audit/database.js')
  const { datadir, to, segments: segment } = config
  const from = firstBlock(config)
  const parts = chooseParts(AUDIT_PARTS, config)
  auditDatabase(datadir, {
    parts,
    from,
    to,
    segment,
    startProgress: (label, unit, total) => createProgress({ label, unit, total }),
    report,
  })
  return parts
}

/** Returns the place and values of a fault in the database, for JSON; undefined for other errors. */
async function describeFault(error: unknown): Promise<object | undefined> {
  const { DatabaseFault } = await import('../../audit/fault.js')
  const { IndexFault } = await import('../../index/segments/verifyIndex.js')
  if (error instanceof DatabaseFault) {
    const { message, table, row, field, expected, found } = error
    return { message, table, row, field, expected, found }
  }
  return error instanceof IndexFault ? { message: error.message, ...error.place, problem: error.problem } : undefined
}

/** Proves base rows at an upstream. A signal may end it at any time. */
async function verifyAgainst(url: string, config: Config, report: (line: string) => void) {
  const { auditAgainstUpstream } = await import('../../audit/againstUpstream.js')
  const { datadir, sample, sampleSeed = Math.floor(Math.random() * 2 ** 32), stateFetchRate, upstreamHeader } = config
  const progress = createProgress({ label: 'base rows', unit: 'accounts and slots', total: sample })
  const { accounts, slots, blockNumber } = await auditAgainstUpstream(datadir, {
    upstream: { url, headers: Object.fromEntries(upstreamHeader.map(({ name, value }) => [name, value])) },
    ...{ sample, seed: sampleSeed, keysPerSecond: stateFetchRate },
    report,
    onProgress: (keys) => progress.update(keys),
    signal: new AbortController().signal,
  })
  progress.finish()
  const chosen = sample === undefined ? '' : ` of a sample (--sample-seed ${sampleSeed})`
  report(
    `against the upstream: ${accounts} accounts and ${slots} slots${chosen} are right, proved up to block ${blockNumber}`,
  )
  return { accounts, slots, blockNumber, ...(sample !== undefined && { sample, sampleSeed }) }
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
  const { againstUpstream, sample, sampleSeed } = config
  if (sample !== undefined && againstUpstream === undefined)
    throw new UsageError('--sample is for --against-upstream; give that, too')
  if (sampleSeed !== undefined && sample === undefined)
    throw new UsageError('--sample-seed is for --sample; give that, too')
  return named.length === 0 && againstUpstream === undefined ? all : named
}

function firstBlock({ from }: Config): number | undefined {
  if (typeof from !== 'string') return from
  throw new UsageError(`--from ${from}: verify needs a block number`)
}
