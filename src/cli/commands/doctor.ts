import { UsageError } from '../../lib/errors.js'
import { suffixesOf } from '../../sources/upstreams/describeUrl.js'
import type { Check } from '../doctor/check.js'
import { checkMachine } from '../doctor/machine.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'
import { formatTable } from '../table.js'

/** Checks of the machine that the others need: they open a database. */
const REQUIRED = new Set(['Node', 'better-sqlite3'])

/** `cairn doctor`: checks the machine, the data directory and the upstreams. Returns 1 if a check failed. */
export async function runDoctor({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help doctor'`)
  const { datadir, upstream, upstreamHeader, duckdb } = config
  const machine = await checkMachine({ duckdb })
  const checks = [...machine]
  const missing = machine.filter(({ check, result }) => REQUIRED.has(check) && result === 'fail')
  if (missing.length > 0) checks.push(notChecked(missing))
  else {
    const { checkDatadir } = await import('../doctor/datadir.js')
    const { checkUpstream } = await import('../doctor/upstream.js')
    const stored = await checkDatadir(datadir)
    const headers = Object.fromEntries(upstreamHeader.map(({ name, value }) => [name, value]))
    const suffixes = suffixesOf(upstream)
    const nodes = await Promise.all(
      upstream.map((url, i) => checkUpstream({ url, headers }, { chain: stored.chain, suffix: suffixes[i] })),
    )
    checks.push(...stored.checks, ...nodes.flat())
  }
  await printResult(config.json ? JSON.stringify(describe(checks)) : formatChecks(checks))
  return checks.some(({ result }) => result === 'fail') ? 1 : 0
}

function notChecked(missing: readonly Check[]): Check {
  const found = `not checked without ${missing.map(({ check }) => check).join(' and ')}`
  return { area: 'datadir and upstreams', check: 'all', result: 'warn', found, remedy: 'correct that first' }
}

function describe(checks: readonly Check[]) {
  const count = (wanted: Check['result']) => checks.filter(({ result }) => result === wanted).length
  return {
    ok: count('fail') === 0,
    warnings: count('warn'),
    failures: count('fail'),
    checks: checks.map((each) => ({ ...each, remedy: each.remedy ?? null })),
  }
}

/** Formats checks as a table, each area under its name, with what to do in the line below a finding. */
function formatChecks(checks: readonly Check[]): string {
  const rows = checks.flatMap(({ check, result, found, remedy }) => [
    [check, result, found],
    ...(remedy === undefined ? [] : [['', '', `-> ${remedy}`]]),
  ])
  const lines = formatTable([['check', 'result', 'found, and what to do'], ...rows]).split('\n')
  const printed = [lines[0]]
  let at = 1
  for (const [i, { area, remedy }] of checks.entries()) {
    if (area !== checks[i - 1]?.area) printed.push('', area)
    const count = remedy === undefined ? 1 : 2
    printed.push(...lines.slice(at, at + count))
    at += count
  }
  const { warnings, failures } = describe(checks)
  return [...printed, '', `${checks.length} checks: ${failures} failed, ${warnings} with a warning`].join('\n')
}
