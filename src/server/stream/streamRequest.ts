import {
  type RecentBlock,
  STREAM_KINDS,
  type StreamFormat,
  type StreamKind,
  type StreamQuery,
} from '../../export/stream/streamQuery.js'
import { STREAM_FIELDS } from '../../export/stream/streamSource.js'
import type { LogCondition } from '../../index/logs/logSlices.js'
import type { ArrowCompression } from '../../lib/arrow/arrowStream.js'
import { didYouMean } from '../../lib/suggestion.js'
import { InvalidValue } from '../../rpc/core/errors.js'
import {
  address,
  boolean,
  data,
  hash32,
  integerBetween,
  invalidValue,
  isAbsent,
  maybe,
  quantity,
  type ValueType,
} from '../../rpc/core/params.js'
import { strictObject } from '../../rpc/core/strictObject.js'
import { addresses, topics } from '../../rpc/eth/logFilter.js'
import type { TransactionCondition } from '../../store/rows/transactionMatches.js'
import { MAX_FILTERS, MAX_RECENT, MAX_STREAM_BYTES, STREAM_TYPES } from './streamLimits.js'

/** A request for a stream. */
export interface StreamRequest {
  readonly query: StreamQuery
  readonly from: number
  readonly to?: number
  /** Blocks that the client has read before, ascending, below `from`. */
  readonly recent: readonly RecentBlock[]
  /** The response ends with the slice that reaches this. */
  readonly maxBytes: number
}

const SELECTOR_BYTES = 4
const MAX_TOPICS = 4

const blockNumber: ValueType<number> = {
  schema: {},
  decode: (value, path) => {
    const number = typeof value === 'string' && /^0x/i.test(value) ? Number(quantity.decode(value, path)) : value
    if (Number.isSafeInteger(number) && (number as number) >= 0) return number as number
    throw invalidValue(path, 'a block number such as 17000000 or "0x1036640"', value)
  },
}

const selector: ValueType<Uint8Array> = {
  schema: {},
  decode: (value, path) => {
    const bytes = data.decode(value, path)
    if (bytes.length !== SELECTOR_BYTES) throw invalidValue(path, 'a selector of 4 bytes such as "0xa9059cbb"', value)
    return bytes
  },
}

/** A value or a list of values; an empty list is like an absent one. */
function oneOrMore(type: ValueType<Uint8Array>): ValueType<Uint8Array[] | undefined> {
  return {
    schema: {},
    optional: true,
    decode: (value, path) => {
      if (isAbsent(value)) return undefined
      const list = Array.isArray(value)
        ? value.map((each, i) => type.decode(each, `${path}[${i}]`))
        : [type.decode(value, path)]
      return list.length === 0 ? undefined : list
    },
  }
}

/** A list with a limit, not empty. */
function listOf<T>(type: ValueType<T>, { most, example }: { most: number; example: string }): ValueType<T[]> {
  return {
    schema: {},
    decode: (value, path) => {
      if (!Array.isArray(value) || value.length === 0) throw invalidValue(path, `an array such as ${example}`, value)
      if (value.length > most) throw invalidValue(path, `an array of at most ${most}`, value)
      return value.map((each, i) => type.decode(each, `${path}[${i}]`))
    },
  }
}

const topicList: ValueType<(Uint8Array[] | null)[]> = {
  ...topics,
  decode: (value, path) => {
    if (Array.isArray(value) && value.length > MAX_TOPICS) throw invalidValue(path, 'at most 4 topics', value)
    return topics.decode(value, path)
  },
}

const logCondition = strictObject({ address: addresses, topics: topicList })
const transactionCondition = strictObject({
  from: oneOrMore(address),
  to: oneOrMore(address),
  selector: oneOrMore(selector),
})

/** Names of columns of a kind. */
function columnNames(kind: StreamKind): ValueType<string[]> {
  const names = STREAM_FIELDS[kind].map(({ name }) => name)
  const column: ValueType<string> = {
    schema: {},
    decode: (value, path) => {
      if (typeof value === 'string' && names.includes(value)) return value
      const advice = typeof value === 'string' ? didYouMean(value.slice(0, 80), names) : ''
      throw new InvalidValue(
        `${invalidValue(path, `a column of ${kind}: ${names.join(', ')}`, value).message}${advice}`,
      )
    },
  }
  return listOf(column, { most: names.length, example: `["${names[0]}"]` })
}

const fields = strictObject({
  blocks: maybe(columnNames('blocks')),
  transactions: maybe(columnNames('transactions')),
  logs: maybe(columnNames('logs')),
})

const compressions: ValueType<ArrowCompression> = {
  schema: {},
  decode: (value, path) => {
    if (value === 'zstd') return value
    throw invalidValue(path, '"zstd"', value)
  },
}

const body = strictObject({
  from: blockNumber,
  to: maybe(blockNumber),
  blocks: maybe(boolean),
  transactions: maybe(listOf(transactionCondition, { most: MAX_FILTERS, example: '[{"to": "0x…"}], [{}] for all' })),
  logs: maybe(listOf(logCondition, { most: MAX_FILTERS, example: '[{"address": "0x…"}], [{}] for all' })),
  fields: maybe(fields),
  finalizedOnly: maybe(boolean),
  recent: maybe(
    listOf(strictObject({ number: blockNumber, hash: hash32 }), {
      most: MAX_RECENT,
      example: 'the `recent` of the last end',
    }),
  ),
  maxBytes: maybe(integerBetween(1, MAX_STREAM_BYTES)),
  compression: maybe(compressions),
})

/** Decodes the body of a request. `maxParams` limits the addresses, topics and selectors of all filters together.
 *  @throws InvalidValue that names the member, its value and what would work */
export function decodeStreamRequest(
  json: unknown,
  { format, maxParams }: { format: StreamFormat; maxParams: number },
): StreamRequest {
  const decoded = body.decode(json, 'body')
  const { from, to, recent = [], maxBytes = MAX_STREAM_BYTES, finalizedOnly = false, compression } = decoded
  if (to !== undefined && to < from) throw new InvalidValue(`body.to: expected at least from, ${from}, got ${to}`)
  if (compression !== undefined && format !== 'arrow') {
    throw new InvalidValue(`body.compression: of Arrow alone; accept ${STREAM_TYPES.arrow}`)
  }
  requireAscending(recent, from)
  const logs = decoded.logs?.map(withoutEmptyLists)
  const transactions = decoded.transactions?.map(({ selector: selectors, ...rest }) => ({ ...rest, selectors }))
  requireFewParams(logs ?? [], transactions ?? [], maxParams)
  const query = {
    format,
    compression,
    blocks: decoded.blocks === true,
    transactions,
    logs,
    fields: decoded.fields ?? {},
    finalizedOnly,
  }
  requireKinds(query)
  return { query, from, to, recent, maxBytes }
}

/** The kinds of rows of a query. */
export function kindsOf(query: StreamQuery): StreamKind[] {
  return STREAM_KINDS.filter((kind) => query[kind] !== undefined && query[kind] !== false)
}

function withoutEmptyLists({
  address: wanted,
  topics: positions,
}: {
  address: Uint8Array[]
  topics: (Uint8Array[] | null)[]
}): LogCondition {
  return { addresses: wanted.length === 0 ? undefined : wanted, topics: positions }
}

function requireAscending(recent: readonly RecentBlock[], from: number): void {
  for (const [i, { number }] of recent.entries()) {
    const next = i + 1 < recent.length ? recent[i + 1].number : from
    if (number >= next) {
      const bound = i + 1 < recent.length ? 'the next one' : 'from'
      throw new InvalidValue(`body.recent[${i}].number: expected less than ${bound}, ${next}, got ${number}`)
    }
  }
}

function requireFewParams(
  logs: readonly LogCondition[],
  transactions: readonly TransactionCondition[],
  most: number,
): void {
  const lists = [
    ...logs.flatMap((each) => [each.addresses, ...each.topics]),
    ...transactions.flatMap(({ from, to, selectors }) => [from, to, selectors]),
  ]
  const count = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0)
  if (count <= most) return
  throw new InvalidValue(
    `body: expected at most ${most} addresses, topics and selectors in all filters, got ${count}; make several requests`,
  )
}

function requireKinds(query: StreamQuery): void {
  const kinds = kindsOf(query)
  if (kinds.length === 0) {
    throw new InvalidValue('body: expected logs, transactions or blocks, such as {"from": 0, "logs": [{}]}, got none')
  }
  if (query.format === 'arrow' && kinds.length > 1) {
    throw new InvalidValue(
      `body: an Arrow stream has one kind of rows, got ${kinds.join(' and ')}; make a request for each, or accept application/x-ndjson`,
    )
  }
  const named = STREAM_KINDS.find((kind) => query.fields[kind] !== undefined && !kinds.includes(kind))
  if (named !== undefined) throw new InvalidValue(`body.fields.${named}: expected columns of ${kinds.join(', ')} only`)
}
