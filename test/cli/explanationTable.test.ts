import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatExplanationTable } from '../../src/cli/explanationTable.js'
import type { ExplanationJson, SegmentJson } from '../../src/rpc/cairn/formatFacts.js'

const STEPS = { translate: 0.1, lookUp: 1.2, intersect: 0.3, tailLoad: 0, tailScan: 0, fetch: 2, verify: 0.001 }

function segment(id: number, ms: number): SegmentJson {
  return {
    id,
    level: 1,
    firstLog: 0,
    logs: 524_288,
    fromBlock: '0x0',
    toBlock: '0x7cf',
    clauses: [
      { member: 'address', keys: 1, found: 1, postings: 1_234, skipped: null },
      { member: 'topics[1]', keys: 5_000, found: 0, postings: 0, skipped: 'rows' },
    ],
    disjoint: false,
    candidates: 1_234,
    ms,
  }
}

const explanation: ExplanationJson = {
  outcome: 'answered',
  plan: 'index',
  results: 12,
  maxResults: 10_000,
  range: { fromBlock: '0x0', toBlock: '0x7d0', clampedTo: null, firstAvailable: null, firstLog: 0, logs: 524_300 },
  minTopics: 2,
  clauses: [
    {
      member: 'address',
      values: 2,
      known: 1,
      first: '0xaa',
      asked: 1,
      skipped: 0,
      found: 1,
      postings: 1_234,
      absent: 1,
      top: [{ value: '0xbb', logs: 1_234 }],
    },
    { member: 'topics[1]', values: 5_000, known: null, first: '0xcc', asked: 0, skipped: 1, found: 0, postings: 0 },
  ],
  segments: [segment(3, 1.5)],
  tail: { firstLog: 524_288, logs: 12, loaded: 12, candidates: 0 },
  rows: { fetched: 1_234, met: 12, rejected: 1_222 },
  overflow: null,
  ms: { ...STEPS, format: 0, total: 3.601 },
  answerBytes: 7_001,
  advice: ['address: 1 of 2 values were never logged: drop them'],
}

test('an explanation is a table of aligned lines', () => {
  const lines = [
    'range     blocks 0 to 2000, 524,300 logs, with at least 2 topics',
    'plan      segments and tail of the index, then rows',
    'outcome   12 logs, 7,001 bytes of JSON',
    'clauses',
    '             values  ever logged  postings  segments  most frequent',
    '  address         2            1     1,234         1  0xbb 1,234',
    '  topics[1]   5,000                      0         0',
    'segments',
    '  id  level  blocks     logs  clause      keys  found          postings  candidates    ms',
    '   3      1  0-1999  524,288  address        1      1             1,234',
    '                              topics[1]  5,000         rows are cheaper       1,234  1.50',
    'tail      12 logs scanned, 12 read into memory first, 0 candidates',
    'rows      1,234 read, 12 met the filter, 1,222 did not',
    'time      3.60 ms: translate 0.10, lookUp 1.20, intersect 0.30, fetch 2.00',
    'advice',
    '  - address: 1 of 2 values were never logged: drop them',
  ]
  assert.deepEqual(formatExplanationTable(explanation).split('\n'), lines)
})

test('of many segments the slowest are shown', () => {
  const segments = Array.from({ length: 30 }, (_, i) => segment(i + 1, i === 4 ? 0.5 : 1 + i))
  const text = formatExplanationTable({ ...explanation, segments })
  const shown = Array.from(text.matchAll(/^ +(\d+) {6}1 /gm), ([, id]) => Number(id))
  assert.deepEqual(
    shown,
    Array.from({ length: 20 }, (_, i) => i + 11),
  )
  assert.match(text, /^ {2}and 10 more, which took less time; --json shows all$/m)
})

test('every outcome has words', () => {
  const outcome = (given: Partial<ExplanationJson>) =>
    /^outcome {3}(.*)$/m.exec(formatExplanationTable({ ...explanation, ...given }))?.[1]
  assert.equal(
    outcome({ outcome: 'tooMany', overflow: { log: 1, block: '0x10' } }),
    'refused: more than 10,000 logs, limit exceeded in block 16',
  )
  assert.equal(outcome({ outcome: 'timeout' }), 'not answered in time')
  assert.equal(outcome({ outcome: 'unavailable' }), 'refused: the range starts before the first stored block')
})
