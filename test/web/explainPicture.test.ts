import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExplainedSegment, Explanation } from '../../src/web/client/types.js'
import { layOutFunnel, layOutPieces } from '../../src/web/explainPicture.js'

const segment = (id: number, firstLog: number, logs: number, candidates: number): ExplainedSegment => ({
  ...{ id, level: 0, firstLog, logs, candidates, clauses: [], disjoint: candidates === 0, ms: 1 },
  ...{ fromBlock: '0x1', toBlock: '0x2' },
})

const EXPLANATION: Explanation = {
  outcome: 'answered',
  plan: 'index',
  results: 3,
  maxResults: 10_000,
  answerBytes: 100,
  range: { fromBlock: '0x0', toBlock: '0x9', firstLog: 0, logs: 1000 },
  clauses: [],
  segments: [segment(2, 800, 100, 0), segment(1, 0, 800, 5)],
  tail: { firstLog: 900, logs: 100, loaded: 0, candidates: 2 },
  rows: { fetched: 7, met: 3, rejected: 4 },
  ms: { total: 1 },
  advice: [],
}

test('segments and tail are side by side in the order of their logs', () => {
  const pieces = layOutPieces(EXPLANATION)
  assert.deepEqual(
    pieces.map(({ firstLog }) => firstLog),
    [0, 800, 900],
  )
  assert.deepEqual(
    pieces.map(({ kind }) => kind),
    ['segment', 'segment', 'tail'],
  )
  let left = 0
  for (const piece of pieces) {
    assert.ok(Math.abs(piece.left - left) < 1e-9)
    left += piece.width
  }
  assert.ok(Math.abs(left - 1000) < 1e-9)
  assert.equal(pieces[1].heat, 0)
  assert.ok(pieces[2].heat > pieces[0].heat && pieces[0].heat > 0.2, 'more candidates among fewer logs are hotter')
})

test('the funnel leads from the logs of the range to the answer', () => {
  const steps = layOutFunnel(EXPLANATION)
  assert.deepEqual(
    steps.map(({ count }) => count),
    [1000, 7, 7, 3],
  )
  assert.equal(steps[0].share, 1)
  const rows = layOutFunnel({ ...EXPLANATION, plan: 'rows', segments: [], tail: null })
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Logs in the range', 'Rows read', 'Logs that match'],
  )
})
