import type { ExplainedSegment, Explanation } from './client/types.js'

/* Layout of the picture of a query plan. Pure functions, without the browser. */

/** A part of the log space, in per mille of the picture's width. */
export interface Piece {
  readonly kind: 'segment' | 'tail'
  readonly left: number
  readonly width: number
  readonly firstLog: number
  readonly logs: number
  readonly candidates: number
  /** Undefined for the tail. */
  readonly segment: ExplainedSegment | undefined
  /** Share of candidates among its logs, from 0 to 1, scaled so that a few are visible too. */
  readonly heat: number
}

/** A step from all logs of the range to the answer. */
interface FunnelStep {
  readonly name: string
  readonly count: number
  /** Share of the widest bar, from 0 to 1, logarithmic: counts range over many magnitudes. */
  readonly share: number
}

/** Places segments and tail side by side in the order of their logs. Each has at least a visible width. */
export function layOutPieces({ segments, tail }: Explanation): Piece[] {
  const parts = [
    ...segments.map((segment) => ({ kind: 'segment' as const, segment, ...segment })),
    ...(tail === null ? [] : [{ kind: 'tail' as const, segment: undefined, ...tail }]),
  ].sort((a, b) => a.firstLog - b.firstLog)
  // Square roots: a segment may have 500 times as many logs as another.
  const weights = parts.map(({ logs }) => Math.sqrt(Math.max(1, logs)))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let left = 0
  return parts.map(({ kind, segment, firstLog, logs, candidates }, i) => {
    const width = (weights[i] / total) * 1000
    const piece = { kind, segment, firstLog, logs, candidates, left, width, heat: heatOf(candidates, logs) }
    left += width
    return piece
  })
}

function heatOf(candidates: number, logs: number): number {
  return candidates === 0 || logs === 0 ? 0 : Math.min(1, 0.25 + 0.75 * (candidates / logs) ** 0.25)
}

/** Returns the steps from the logs of the range to those of the result. */
export function layOutFunnel({ range, segments, tail, rows, results, plan }: Explanation): FunnelStep[] {
  const candidates = segments.reduce((sum, segment) => sum + segment.candidates, tail?.candidates ?? 0)
  const steps: [string, number][] = [['Logs in the range', range.logs]]
  if (plan === 'index') steps.push(['Candidates by the index', candidates])
  steps.push(['Rows read', rows.fetched], ['Logs that match', results])
  const widest = Math.log1p(Math.max(...steps.map(([, count]) => count), 1))
  return steps.map(([name, count]) => ({ name, count, share: Math.log1p(count) / widest }))
}
