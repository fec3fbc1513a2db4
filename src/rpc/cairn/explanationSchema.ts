import { LOG_STEPS } from '../../index/logs/trace.js'
import type { JsonSchema } from '../core/method.js'
import { index } from '../core/params.js'

/* The JSON schema of the result of `cairn_explainLogs`. Counts are JSON numbers, times milliseconds, block numbers
 *  QUANTITY. */

const BLOCK = index.schema
const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description })
const text = (description: string): JsonSchema => ({ type: 'string', description })
const orNull = (schema: JsonSchema, description: string): JsonSchema => ({
  oneOf: [schema, { type: 'null' }],
  description,
})
const listOf = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description })

function objectOf(properties: { [name: string]: JsonSchema }, optional: readonly string[] = []): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) }
}

const MEMBER = text(
  'Member of the filter: address, topics[0] to topics[3], or topics.length (a minimum number of topics).',
)
const NUMBER: JsonSchema = { type: 'integer', minimum: 0 }

const CLAUSE = objectOf(
  {
    member: MEMBER,
    values: count('Distinct values in the filter.'),
    known: orNull(NUMBER, 'How many of them were ever logged; null if there is no dictionary.'),
    first: orNull({ type: 'string' }, 'The first of them.'),
    asked: count('Segments in which the clause was evaluated.'),
    skipped: count('Segments in which it was skipped.'),
    found: count('Keys found, counted per segment.'),
    postings: count('Logs of those keys in whole segments, counted per key.'),
    absent: count('Values found in no segment.'),
    top: listOf(
      objectOf({ value: text('The value.'), logs: count('Its logs in the segments.') }),
      'Most frequent values, in descending order.',
    ),
  },
  ['absent', 'top'],
)

const CONSULTED = objectOf({
  member: MEMBER,
  keys: count('Keys looked up; for a skipped clause, those that would have been.'),
  found: count('Keys that the segment has.'),
  postings: count('Logs of those keys in the segment.'),
  skipped: orNull(
    { type: 'string', enum: ['rows', 'empty'] },
    'Why it was skipped: rows: reading the remaining candidates is cheaper; empty: an earlier clause left none.',
  ),
})

const SEGMENT = objectOf({
  id: NUMBER,
  level: count('0 is 65,536 logs, each next level eight times as many.'),
  firstLog: count('Logs are numbered across the whole chain, from 0.'),
  logs: count('Logs it covers, inside the range or not.'),
  fromBlock: BLOCK,
  toBlock: BLOCK,
  clauses: listOf(CONSULTED, 'In evaluation order.'),
  disjoint: {
    type: 'boolean',
    description: 'True if its key pairs show that no log matches two of the clauses: no posting was read.',
  },
  candidates: count('Logs in the range that match all evaluated clauses.'),
  ms: { type: 'number', description: 'Time spent in it, without reading rows.' },
})

const TAIL = objectOf({
  firstLog: NUMBER,
  logs: count('Logs of the range behind the last segment, scanned one by one.'),
  loaded: count('Rows read into memory first.'),
  candidates: NUMBER,
})

const STEPS = Object.fromEntries(['total', ...LOG_STEPS].map((step) => [step, { type: 'number' }]))

/** The result of `cairn_explainLogs`. */
export const EXPLANATION_SCHEMA: JsonSchema = {
  title: 'Explanation',
  ...objectOf({
    outcome: {
      type: 'string',
      enum: ['answered', 'tooMany', 'timeout', 'unavailable'],
      description: 'What eth_getLogs would do. After a failure the trace ends there.',
    },
    plan: {
      type: 'string',
      enum: ['none', 'arithmetic', 'rows', 'index'],
      description:
        'none: a value was never logged, or there is no block; arithmetic: all logs of the range match, and there are too ' +
        'many; rows: the range is scanned row by row; index: segments and tail yield candidates.',
    },
    results: count('Logs in the result.'),
    maxResults: count('Limit on results.'),
    answerBytes: orNull(NUMBER, 'Length of the answer as JSON.'),
    range: objectOf({
      fromBlock: BLOCK,
      toBlock: BLOCK,
      clampedTo: orNull(BLOCK, 'The head, if the range ends beyond it.'),
      firstAvailable: orNull(BLOCK, 'The first stored block, if the range starts before it.'),
      firstLog: orNull(NUMBER, 'The first log of the range.'),
      logs: count('Logs in the range.'),
    }),
    minTopics: count('Minimum number of topics.'),
    clauses: listOf(CLAUSE, 'The conditions of the filter.'),
    segments: listOf(SEGMENT, 'Segments used.'),
    tail: orNull(TAIL, 'The scan of the tail, if there was one.'),
    rows: objectOf({
      fetched: count('Rows read.'),
      met: count('Rows that matched the filter.'),
      rejected: count('Rows that did not match: skipped clauses, hash collisions.'),
    }),
    overflow: orNull(objectOf({ log: NUMBER, block: orNull(BLOCK, 'Its block.') }), 'The first log beyond the limit.'),
    ms: { ...objectOf(STEPS), description: 'Time by step, in milliseconds.' },
    advice: listOf({ type: 'string' }, 'Suggestions.'),
  }),
}
