import { readFileSync } from 'node:fs'
import { deadlineAfter } from '../../lib/deadline.js'
import { CairnError, messageOf, UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { explainLogs } from '../../rpc/cairn/explainLogs.js'
import type { ExplanationJson } from '../../rpc/cairn/formatFacts.js'
import { INVALID_PARAMS } from '../../rpc/core/errors.js'
import { openContext } from '../../rpc/core/openContext.js'
import { runMethod } from '../../rpc/core/runCall.js'
import { formatExplanationTable } from '../explanationTable.js'
import { readLimits } from '../limits.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'

/** `cairn explain-logs`: runs `cairn_explainLogs` on the database and prints its result. */
export async function runExplainLogs({ config, operands }: ParsedArgs): Promise<number> {
  const [file, ...others] = operands
  if (file === undefined) throw new UsageError("no file with a filter; see 'cairn help explain-logs'")
  if (others.length > 0) throw new UsageError(`unexpected operand '${others[0]}'; see 'cairn help explain-logs'`)
  const filter = readFilter(file)
  const limits = readLimits(config)
  const { context, close } = openContext({ datadir: config.datadir, limits, log: createLogger({ level: 'error' }) })
  try {
    const own = { ...context, deadline: deadlineAfter(limits.logsTimeoutMs) }
    const outcome = await runMethod(explainLogs, [filter], own)
    if ('error' in outcome) {
      const { code, message } = outcome.error
      throw code === INVALID_PARAMS ? new UsageError(`${file}: ${message}`) : new CairnError(message)
    }
    const text = Buffer.from(outcome.result).toString()
    await printResult(config.json ? text : formatExplanationTable(JSON.parse(text) as ExplanationJson))
  } finally {
    close()
  }
  return 0
}

const METHODS = ['eth_getLogs', 'eth_getLogsWithCursor', explainLogs.name]

/** Reads the filter in a file: a filter itself, or that of a request. @throws UsageError if it is missing */
function readFilter(file: string): unknown {
  const value = readJson(file)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${file}: expected a filter object or one request, got ${describe(value)}`)
  }
  if (!('method' in value)) return value
  const { method, params } = value as { method: unknown; params?: unknown }
  if (!METHODS.includes(String(method))) {
    throw new UsageError(`${file}: expected a request of ${METHODS.join(', ')}, got ${JSON.stringify(method)}`)
  }
  const filter = Array.isArray(params) ? params[0] : (params as { filter?: unknown } | null | undefined)?.filter
  if (filter === undefined || filter === null) throw new UsageError(`${file}: the request has no filter`)
  return filter
}

function readJson(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file}: invalid JSON: ${messageOf(error)}`, { cause: error })
  }
}

function describe(value: unknown): string {
  return Array.isArray(value) ? `an array of ${value.length}` : JSON.stringify(value).slice(0, 60)
}
