import { LOG_STEPS } from '../index/logs/trace.js'
import type { ClauseJson, ExplanationJson, SegmentJson } from '../rpc/cairn/formatFacts.js'

// Shows only the slowest: a chain with many millions of logs may have dozens.
const SEGMENTS_SHOWN = 20

/** Formats the trace of a query as aligned lines for a terminal. */
export function formatExplanationTable(explanation: ExplanationJson): string {
  const { rows, segments } = explanation
  const facts: [string, string][] = [
    ['range', formatRange(explanation)],
    ['plan', PLAN_WORDS[explanation.plan]],
    ['outcome', formatOutcome(explanation)],
  ]
  const later: [string, string][] = [
    ['tail', formatTail(explanation)],
    ['rows', `${count(rows.fetched)} read, ${count(rows.met)} met the filter, ${count(rows.rejected)} did not`],
    ['time', formatTimes(explanation)],
  ]
  const shown = segments.toSorted((a, b) => b.ms - a.ms).slice(0, SEGMENTS_SHOWN)
  const hidden = segments.length - shown.length
  return [
    ...facts.map(formatFact),
    ...section('clauses', formatClauses(explanation.clauses)),
    ...section('segments', formatSegments(segments.filter((segment) => shown.includes(segment)))),
    ...(hidden > 0 ? [`  and ${hidden} more, which took less time; --json shows all`] : []),
    ...later.map(formatFact),
    ...section(
      'advice',
      explanation.advice.map((sentence) => `  - ${sentence}`),
    ),
  ].join('\n')
}

const PLAN_WORDS: { readonly [plan in ExplanationJson['plan']]: string } = {
  none: 'nothing to look at',
  arithmetic: 'refused by counting: all logs of the range are wanted',
  rows: 'all logs of the range are read, without the index',
  index: 'segments and tail of the index, then rows',
}

function formatFact([name, value]: [string, string]): string {
  return `${name.padEnd(10)}${value}`
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}

function formatRange({ range, minTopics }: ExplanationJson): string {
  const parts = [`blocks ${Number(range.fromBlock)} to ${Number(range.toBlock)}`, `${count(range.logs)} logs`]
  if (range.clampedTo !== null) parts.push(`the head is block ${Number(range.clampedTo)}`)
  if (minTopics > 0) parts.push(`with at least ${minTopics} topics`)
  return parts.join(', ')
}

function formatOutcome({ outcome, results, maxResults, answerBytes, overflow }: ExplanationJson): string {
  if (outcome === 'tooMany') {
    const where = overflow?.block ? `, limit exceeded in block ${Number(overflow.block)}` : ''
    return `refused: more than ${count(maxResults)} logs${where}`
  }
  if (outcome === 'timeout') return 'not answered in time'
  if (outcome === 'unavailable') return 'refused: the range starts before the first stored block'
  return `${count(results)} logs, ${count(answerBytes ?? 0)} bytes of JSON`
}

function formatClauses(clauses: readonly ClauseJson[]): string[] {
  const header = ['', 'values', 'ever logged', 'postings', 'segments', 'most frequent']
  const lines = clauses.map(({ member, values, known, postings, asked, top = [] }) => {
    const frequent = top.length === 0 ? '' : `${top[0].value} ${count(top[0].logs)}`
    return [member, count(values), known === null ? '' : count(known), count(postings), count(asked), frequent]
  })
  return clauses.length === 0 ? [] : alignColumns([header, ...lines], [0, 5])
}

/** Formats one line per clause evaluated in a segment. */
function formatSegments(segments: readonly SegmentJson[]): string[] {
  const header = ['id', 'level', 'blocks', 'logs', 'clause', 'keys', 'found', 'postings', 'candidates', 'ms']
  const lines = segments.flatMap(({ id, level, fromBlock, toBlock, logs, clauses, candidates, ms }) =>
    clauses.map(({ member, keys, found, postings, skipped }, i) => [
      ...(i > 0
        ? ['', '', '', '']
        : [String(id), String(level), `${Number(fromBlock)}-${Number(toBlock)}`, count(logs)]),
      member,
      count(keys),
      ...(skipped === null ? [count(found), count(postings)] : ['', SKIP_WORDS[skipped]]),
      ...(i < clauses.length - 1 ? ['', ''] : [count(candidates), ms.toFixed(2)]),
    ]),
  )
  return lines.length === 0 ? [] : alignColumns([header, ...lines], [4])
}

const SKIP_WORDS = { rows: 'rows are cheaper', empty: 'not needed' } as const

function formatTail({ tail }: ExplanationJson): string {
  if (tail === null) return 'not looked at'
  const loaded = tail.loaded === 0 ? '' : `, ${count(tail.loaded)} read into memory first`
  return `${count(tail.logs)} logs scanned${loaded}, ${count(tail.candidates)} candidates`
}

function formatTimes({ ms }: ExplanationJson): string {
  const steps = LOG_STEPS.filter((step) => ms[step] >= 0.005).map((step) => `${step} ${ms[step].toFixed(2)}`)
  return `${ms.total.toFixed(2)} ms${steps.length === 0 ? '' : `: ${steps.join(', ')}`}`
}

/** Formats cells as aligned lines: columns in `left` left-aligned, others right-aligned. */
function alignColumns(rows: readonly string[][], left: readonly number[]): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)))
  return rows.map((cells) => {
    const aligned = cells.map((cell, column) =>
      left.includes(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    )
    return `  ${aligned.join('  ')}`.trimEnd()
  })
}

function count(value: number): string {
  return value.toLocaleString('en')
}
