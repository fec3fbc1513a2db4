import { messageOf } from '../../lib/errors.js'

/** How a check ended. Only `fail` makes the command fail. */
export type CheckResult = 'ok' | 'warn' | 'fail'

/** Outcome of one check: a row of the table. */
export interface Check {
  /** What was checked, such as `datadir` or a redacted URL. */
  readonly area: string
  readonly check: string
  readonly result: CheckResult
  /** What was found, in one line. */
  readonly found: string
  /** What to do about it; undefined where nothing is wrong. */
  readonly remedy?: string
}

/** A check without the names that the table adds. */
export type Finding = Pick<Check, 'result' | 'found' | 'remedy'>

/** Returns a finding without a fault. */
export function ok(found: string): Finding {
  return { result: 'ok', found }
}

/** Returns a finding that does not make the command fail. */
export function warn(found: string, remedy: string): Finding {
  return { result: 'warn', found, remedy }
}

/** Returns a finding that makes the command fail. */
export function fail(found: string, remedy: string): Finding {
  return { result: 'fail', found, remedy }
}

/** Time limit of one probe, in milliseconds. */
export const PROBE_MS = 10_000

/** Runs one check, and returns its row. A check that throws or exceeds its time is a row, too.
 *  @param run gets a signal that aborts after `timeoutMs`, 10 s by default, or with `signal`
 *  @param failed makes a finding of what `run` threw; by default a failure with its message */
export async function runCheck(
  {
    area,
    check,
    signal,
    timeoutMs = PROBE_MS,
  }: { area: string; check: string; signal?: AbortSignal; timeoutMs?: number },
  run: (signal: AbortSignal) => Finding | Promise<Finding>,
  failed: (problem: string) => Finding = (problem) => fail(problem, 'see docs/troubleshooting.md'),
): Promise<Check> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const both = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
  try {
    return { area, check, ...(await run(both)) }
  } catch (error) {
    const isLate = both.aborted && error === both.reason
    return { area, check, ...failed(isLate ? describeAbort(timeout, timeoutMs) : oneLine(messageOf(error))) }
  }
}

function describeAbort(timeout: AbortSignal, timeoutMs: number): string {
  return timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : 'not checked: the time for all checks was over'
}

/** Returns the text without line breaks. */
export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
