import { LOG_STEPS } from '../../logs/trace.js'
import type { JsonSchema } from '../core/method.js'
import { index } from '../core/params.js'

/* The JSON schema of what `cairn_explainLogs` answers. Counts are JSON numbers, times milliseconds, block numbers QUANTITY. */

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

const MEMBER = text('The member of the filter: address, topics[0] to topics[3]; topics.length: that there are as many.')
const NUMBER: JsonSchema = { type: 'integer', minimum: 0 }

const CLAUSE = objectOf(
  {
    member: MEMBER,
    values: count('Values named, each once.'),
    known: orNull(NUMBER, 'How many of them were ever logged; null where there is no dictionary to tell.'),
    first: orNull({ type: 'string' }, 'The first of them.'),
    asked: count('Segments that were asked about the clause.'),
    skipped: count('Segments that were looked into without it.'),
    found: count('Keys that the segments have, one counted in each.'),
    postings: count('Logs of those keys in whole segments, one counted for each of its keys.'),
    absent: count('Values that none of the segments has.'),
    top: listOf(
      objectOf({ value: text('The value.'), logs: count('Its logs in the segments.') }),
      'The most frequent values, the first the most.',
    ),
  },
  ['absent', 'top'],
)

const CONSULTED = objectOf({
  member: MEMBER,
  keys: count('Keys looked up; of a skipped clause those that would have been.'),
  found: count('Keys that the segment has.'),
  postings: count('Logs of those keys in the segment.'),
  skipped: orNull(
    { type: 'string', enum: ['rows', 'empty'] },
    'Why it was not asked: rows, since to read the candidates left is cheaper; empty, since a clause before has none.',
  ),
})

const SEGMENT = objectOf({
  id: NUMBER,
  level: count('0 is 65,536 logs, each next level eight times as many.'),
  firstLog: count('Logs are numbered through the whole chain, from 0.'),
  logs: count('Logs that it covers, in the range or not.'),
  fromBlock: BLOCK,
  toBlock: BLOCK,
  clauses: listOf(CONSULTED, 'In the order in which they were asked.'),
  disjoint: {
    type: 'boolean',
    description: 'True when it knows of two clauses that none of its logs meets both: no posting was read.',
  },
  candidates: count('Logs in the range that meet all clauses which were asked.'),
  ms: { type: 'number', description: 'Time in it, without the reading of rows.' },
})

const TAIL = objectOf({
  firstLog: NUMBER,
  logs: count('Logs of the range that lie behind the last segment, looked at one by one.'),
  loaded: count('Rows that had to be read into memory first.'),
  candidates: NUMBER,
})

const STEPS = Object.fromEntries(['total', ...LOG_STEPS].map((step) => [step, { type: 'number' }]))

/** The answer of `cairn_explainLogs`. */
export const EXPLANATION_SCHEMA: JsonSchema = {
  title: 'Explanation',
  ...objectOf({
    outcome: {
      type: 'string',
      enum: ['answered', 'tooMany', 'timeout', 'notHeld'],
      description: 'What eth_getLogs would do. After a failure the facts are those until then.',
    },
    plan: {
      type: 'string',
      enum: ['none', 'arithmetic', 'rows', 'index'],
      description:
        'none: a value was never logged, or no block is held; arithmetic: all of so many logs are wanted; rows: the logs ' +
        'of the range are read one after another; index: segments and tail give candidates.',
    },
    results: count('Logs of the answer.'),
    maxResults: count('What it may have at most.'),
    answerBytes: orNull(NUMBER, 'Length of the answer as JSON.'),
    range: objectOf({
      fromBlock: BLOCK,
      toBlock: BLOCK,
      clampedTo: orNull(BLOCK, 'The head, where the range ends beyond it.'),
      firstHeld: orNull(BLOCK, 'The first block held, where the range begins before it.'),
      firstLog: orNull(NUMBER, 'The first log of the range.'),
      logs: count('Logs in the range.'),
    }),
    minTopics: count('The least number of topics.'),
    clauses: listOf(CLAUSE, 'The conditions of the filter.'),
    segments: listOf(SEGMENT, 'Segments that were looked into.'),
    tail: orNull(TAIL, 'The scan of the tail, if there was one.'),
    rows: objectOf({
      fetched: count('Rows read.'),
      met: count('Those that met the filter.'),
      rejected: count('Those that did not: clauses that were not asked, hash collisions.'),
    }),
    overflow: orNull(objectOf({ log: NUMBER, block: orNull(BLOCK, 'Its block.') }), 'The log that was one too many.'),
    ms: { ...objectOf(STEPS), description: 'Time by step, in milliseconds.' },
    advice: listOf({ type: 'string' }, 'Sentences that suggest what to do better.'),
  }),
}
