import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TooManyLogs } from '../../../src/index/logs/errors.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import type { LogTrace } from '../../../src/index/logs/trace.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import type { Logger } from '../../../src/lib/logger.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import type { Method } from '../../../src/rpc/core/method.js'
import { logWhenSlow } from '../../../src/rpc/core/slowLogs.js'
import { getLogs } from '../../../src/rpc/eth/getLogs.js'
import { getLogsWithCursor } from '../../../src/rpc/eth/getLogsWithCursor.js'
import { readCursorSecret } from '../../../src/store/cursorSecret.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { randomBlocks } from '../../index/logs/randomFilters.js'
import { seededFractions, temporaryDatabase, writeLogs } from '../../index/logs/randomLogs.js'

/** Every query takes longer than this. */
const ANY_TIME = Number.MIN_VALUE

// biome-ignore lint/suspicious/noExplicitAny: lines of the log are looked at member by member.
type Line = any

function contextWith(slowLogsMs: number, lines: Line[]) {
  const log: Logger = { ...silentLogger, warn: (fields, message) => void lines.push({ ...fields, message }) }
  return { limits: { ...DEFAULT_LIMITS, slowLogsMs }, waitedMs: 0, deadline: noDeadline, log }
}

/** Some logs in segments, and the methods over them. */
function prepare(t: Parameters<typeof temporaryDatabase>[0], slowLogsMs: number, maxLogs = 10_000) {
  const db = temporaryDatabase(t)
  writeLogs(db, 0, randomBlocks(seededFractions(61), 600))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  while (indexer.sealNext());
  const lines: Line[] = []
  const own = contextWith(slowLogsMs, lines)
  const context = {
    ...own,
    chain: createChainReader(db),
    logs: createLogSource(db),
    cursorSecret: readCursorSecret(db),
  } as unknown as RpcContext
  const limits = { ...context.limits, maxLogs }
  const ask = (method: Method, ...params: unknown[]) => {
    const decoded = method.params.map((param, i) => param.decode(params[i], ''))
    return method.handler({ ...context, limits }, ...decoded) as { bytes: Uint8Array }
  }
  return { lines, ask }
}

test('a slow eth_getLogs leaves a line with what it did', (t) => {
  const { lines, ask } = prepare(t, ANY_TIME)
  const answer = JSON.parse(Buffer.from(ask(getLogs, { fromBlock: '0x0', topics: [null, null] }).bytes).toString())
  assert.equal(lines.length, 1)
  const [line] = lines
  assert.deepEqual([line.message, line.method, line.waitedMs], ['slow log query', 'eth_getLogs', 0])
  assert.deepEqual([line.outcome, line.plan, line.results], ['answered', 'index', answer.length])
  assert.equal(line.range.toBlock, '0x257')
  assert.ok(line.segments.length + line.segmentsLeftOut > 20 && line.segments.length <= 20)
  assert.ok(line.segments.every((segment: Line) => segment.clauses[0].member === 'topics.length'))
  assert.ok(line.ms.total > 0 && line.ms.format > 0 && line.rows.met === answer.length)
  assert.ok(JSON.stringify(line).length < 10_000)
})

test('a slow page and a slow refusal leave lines too', (t) => {
  const { lines, ask } = prepare(t, ANY_TIME, 50)
  ask(getLogsWithCursor, { fromBlock: '0x0', topics: [null] }, undefined, 10)
  assert.throws(() => ask(getLogs, { fromBlock: '0x0', topics: [null] }), TooManyLogs)
  assert.deepEqual(
    lines.map(({ method, outcome, results }) => [method, outcome, results]),
    [
      ['eth_getLogsWithCursor', 'page', 10],
      ['eth_getLogs', 'tooMany', 0],
    ],
  )
  assert.match(lines[1].advice[0], /^more than 50 logs match/)
})

test('a query that is quick enough leaves none, and without a threshold there is no trace', (t) => {
  for (const slowLogsMs of [3_600_000, 0]) {
    const { lines, ask } = prepare(t, slowLogsMs)
    ask(getLogs, { fromBlock: '0x0', topics: [null] })
    assert.deepEqual(lines, [])
  }
  const traces: (LogTrace | undefined)[] = []
  const query = (trace: LogTrace | undefined) => {
    traces.push(trace)
    return { value: 7, results: 0, outcome: 'answered' as const }
  }
  assert.equal(logWhenSlow(contextWith(0, []), 'eth_getLogs', query), 7)
  assert.equal(logWhenSlow(contextWith(1_000, []), 'eth_getLogs', query), 7)
  assert.deepEqual([traces[0], typeof traces[1]], [undefined, 'object'])
})

test('the line says how long the request waited for a thread', () => {
  const lines: Line[] = []
  const context = { ...contextWith(ANY_TIME, lines), waitedMs: 1234.5 }
  logWhenSlow(context, 'eth_getLogs', () => ({ value: 0, results: 0, outcome: 'answered' }))
  assert.equal(lines[0].waitedMs, 1235)
})
