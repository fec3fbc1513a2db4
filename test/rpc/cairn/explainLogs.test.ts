import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { explainLogs } from '../../../src/rpc/cairn/explainLogs.js'
import { EXPLANATION_SCHEMA } from '../../../src/rpc/cairn/explanationSchema.js'
import type { ExplanationJson } from '../../../src/rpc/cairn/formatFacts.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { JsonBytes, type JsonSchema, type Method } from '../../../src/rpc/core/method.js'
import { getLogs } from '../../../src/rpc/eth/getLogs.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { FIRST_BLOCK, randomBlocks, randomFilter } from '../../index/logs/randomFilters.js'
import { numberedBytes, seededFractions, temporaryDatabase, writeLogs } from '../../index/logs/randomLogs.js'

const BLOCKS = 400

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`

function prepare(t: TestContext, limits: Partial<typeof DEFAULT_LIMITS> = {}) {
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(seededFractions(71), BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  while (indexer.sealNext());
  const context = {
    chain: createChainReader(db),
    logs: createLogSource(db),
    limits: { ...DEFAULT_LIMITS, ...limits },
    deadline: noDeadline,
    log: silentLogger,
  } as unknown as RpcContext
  const call = (method: Method, filter: object) => {
    const result = method.handler(context, method.params[0].decode(filter, ''))
    return result instanceof JsonBytes ? Buffer.from(result.bytes).toString() : JSON.stringify(result)
  }
  const explain = (filter: object) => JSON.parse(call(explainLogs, filter)) as ExplanationJson
  return { logs, explain, getLogs: (filter: object) => call(getLogs, filter) }
}

/** Where a value is not what the schema says; also a member that the schema does not name. */
function breaches(value: unknown, schema: JsonSchema, path: string): string[] {
  const { type, oneOf, properties, required, items, enum: values, pattern } = schema as { [name: string]: never }
  if (oneOf) {
    const all = (oneOf as JsonSchema[]).map((choice) => breaches(value, choice, path))
    return all.some((list) => list.length === 0) ? [] : all[0]
  }
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const right = type === 'integer' ? Number.isInteger(value) : type === kind
  if (!right) return [`${path}: ${kind} instead of ${type}`]
  if (values && !(values as unknown[]).includes(value)) return [`${path}: ${value} is not in the list`]
  if (pattern && !new RegExp(pattern).test(value as string)) return [`${path}: ${value} is not of the pattern`]
  if (kind === 'array') return (value as unknown[]).flatMap((item, i) => breaches(item, items, `${path}[${i}]`))
  if (kind !== 'object') return []
  const members = Object.entries(value as object)
  const missing = (required as string[]).filter((name) => !(name in (value as object)))
  return [
    ...missing.map((name) => `${path}.${name}: missing`),
    ...members.flatMap(([name, member]) => {
      const known = (properties as { [name: string]: JsonSchema })[name]
      return known ? breaches(member, known, `${path}.${name}`) : [`${path}.${name}: not in the schema`]
    }),
  ]
}

test('every explanation is as the schema says, and speaks of the answer that eth_getLogs gives', (t) => {
  const { explain, getLogs } = prepare(t)
  const random = seededFractions(72)
  const seen = { segments: 0, tails: 0, rows: 0 }
  for (let i = 0; i < 150; i++) {
    const { fromBlock, toBlock, addresses, topics } = randomFilter(random, BLOCKS)
    const filter = {
      fromBlock: formatQuantity(fromBlock),
      toBlock: formatQuantity(toBlock),
      address: addresses?.map(hex),
      topics: topics.map((values) => values?.map(hex) ?? null),
    }
    const explanation = explain(filter)
    assert.deepEqual(breaches(explanation, EXPLANATION_SCHEMA, 'explanation'), [])
    const answer = getLogs(filter)
    assert.equal(explanation.answerBytes, answer.length)
    assert.equal(explanation.results, JSON.parse(answer).length)
    const { total, ...steps } = explanation.ms
    const sum = Object.values(steps).reduce((a, b) => a + b, 0)
    assert.ok(Math.abs(total - sum) < 0.01, `${total} ${sum}`)
    seen.segments += explanation.segments.length
    seen.tails += explanation.tail ? 1 : 0
    seen.rows += explanation.plan === 'rows' ? 1 : 0
  }
  assert.ok(seen.segments > 500 && seen.tails > 20 && seen.rows > 1, JSON.stringify(seen))
})

test('clauses sum up what the segments were asked', (t) => {
  const { explain } = prepare(t)
  const filter = { fromBlock: formatQuantity(FIRST_BLOCK), topics: [hex(numberedBytes(1, 32)), null, null] }
  const { clauses, segments } = explain(filter)
  assert.deepEqual(
    clauses.map(({ member, values, known, first }) => [member, values, known, first]),
    [
      ['topics[0]', 1, 1, hex(numberedBytes(1, 32))],
      ['topics.length', 1, null, null],
    ],
  )
  for (const { member, asked, skipped, found, postings } of clauses) {
    const own = segments.flatMap((segment) => segment.clauses).filter((clause) => clause.member === member)
    assert.equal(asked + skipped, segments.length)
    const sums = [own.reduce((sum, clause) => sum + clause.found, 0), own.reduce((sum, { postings: n }) => sum + n, 0)]
    assert.deepEqual([found, postings], sums)
  }
  const [{ top, postings }] = clauses
  assert.deepEqual(top, [{ value: hex(numberedBytes(1, 32)), logs: postings }])
})

test('refusals are outcomes of the schema, with advice', (t) => {
  const { explain, logs } = prepare(t, { maxLogs: 100 })
  const tooMany = explain({ fromBlock: formatQuantity(FIRST_BLOCK), topics: [null] })
  assert.deepEqual(breaches(tooMany, EXPLANATION_SCHEMA, 'explanation'), [])
  assert.deepEqual([tooMany.outcome, tooMany.results, tooMany.answerBytes], ['tooMany', 0, null])
  const expected = logs.filter(({ topics }) => topics.length > 0)[100]
  assert.deepEqual(tooMany.overflow, { log: logs.indexOf(expected), block: formatQuantity(expected.blockNumber) })
  const unavailable = explain({ fromBlock: '0x1' })
  assert.deepEqual(breaches(unavailable, EXPLANATION_SCHEMA, 'explanation'), [])
  assert.deepEqual(
    [unavailable.outcome, unavailable.range.firstAvailable],
    ['unavailable', formatQuantity(FIRST_BLOCK)],
  )
})

test('advice for a filter without fromBlock says that it means the latest block', (t) => {
  const { explain } = prepare(t)
  assert.equal(explain({})?.advice[0], 'fromBlock is absent: only the latest block is looked at')
  const head = formatQuantity(FIRST_BLOCK + BLOCKS - 1)
  assert.deepEqual(explain({ fromBlock: head }).advice, [])
})
