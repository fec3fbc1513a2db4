import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import { INVALID_PARAMS, InvalidValue, invalidParams } from '../core/errors.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import {
  address,
  arrayOf,
  blockNumberOrTag,
  hash32,
  integerBetween,
  maybe,
  oneOf,
  required,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { RANGE_BEYOND_HEAD, REVERSED_RANGE, TWO_RANGES, UNKNOWN_BLOCK } from '../eth/logErrors.js'
import { requireOneRange } from '../eth/logFilter.js'
import { resolveRange } from '../eth/resolveFilter.js'
import { type LocalTrace, visitTraces } from './flatTraces.js'
import { FLAT_TRACES_SCHEMA } from './schemas.js'

/** Blocks that one filter may execute. */
const MAX_FILTER_BLOCKS = 1000

const MAX_ADDRESSES = 1000
const count = integerBetween(0, Number.MAX_SAFE_INTEGER)

/** How to combine the two address lists (Erigon, reth). */
const MODES = ['intersection', 'union'] as const

const members = strictObject(
  {
    blockHash: maybe(hash32),
    fromBlock: maybe(blockNumberOrTag),
    toBlock: maybe(blockNumberOrTag),
    fromAddress: maybe(arrayOf(address)),
    toAddress: maybe(arrayOf(address)),
    mode: maybe(oneOf(MODES)),
    after: maybe(count),
    count: maybe(count),
  },
  { title: 'trace filter' },
)

type TraceFilter = ReturnType<typeof members.decode>

const filterType: ValueType<TraceFilter> = {
  schema: members.schema,
  decode: (value, path) => {
    const filter = members.decode(value, path)
    requireOneRange(filter)
    const addresses = (filter.fromAddress?.length ?? 0) + (filter.toAddress?.length ?? 0)
    if (addresses > MAX_ADDRESSES) {
      throw new InvalidValue(`${path}: ${addresses} addresses, the limit is ${MAX_ADDRESSES}`)
    }
    return filter
  },
}

export const traceFilter = defineMethod({
  name: 'trace_filter',
  summary: 'Calls and rewards of blocks, by sender and recipient.',
  description:
    `In OpenEthereum's shape, in chain order, of at most ${MAX_FILTER_BLOCKS} blocks, which are executed again. A trace matches if its sender is ` +
    'one of `fromAddress` and its recipient one of `toAddress`; an absent list matches all. With `mode` `union` instead of ' +
    '`intersection` one of the two is enough. `after` traces are skipped, at most `count` are returned. Bounds follow the rules of ' +
    '`eth_getLogs`: missing ones are the head, and `blockHash` excludes them.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [
    required(
      'filter',
      filterType,
      '`fromBlock` and `toBlock`, or `blockHash`; `fromAddress`, `toAddress`, `mode`, `after`, `count`',
    ),
  ],
  result: { name: 'traces', schema: FLAT_TRACES_SCHEMA },
  errors: [
    {
      code: INVALID_PARAMS,
      message: `invalid argument 0: filter: N blocks, the limit is ${MAX_FILTER_BLOCKS}`,
      when: 'the range has more available blocks',
    },
    TWO_RANGES,
    REVERSED_RANGE,
    RANGE_BEYOND_HEAD,
    UNKNOWN_BLOCK,
    BLOCK_UNAVAILABLE,
    ...TRACE_ERRORS,
  ],
  handler: async (context, filter) => {
    const { chain, deadline } = context
    const traces = await context.loadTraces()
    const { fromBlock, toBlock } = resolveRange(chain, filter)
    const blocks = toBlock - fromBlock + 1
    if (blocks > MAX_FILTER_BLOCKS) {
      throw invalidParams(`invalid argument 0: filter: ${blocks} blocks, the limit is ${MAX_FILTER_BLOCKS}`)
    }
    const matches = createMatcher(filter)
    const out = createJsonOutput(context.sendPart)
    const end = (filter.after ?? 0) + (filter.count ?? Infinity)
    let found = 0
    const write = (trace: LocalTrace) => {
      if (!matches(trace)) return
      found++
      if (found <= (filter.after ?? 0) || found > end) return
      out.write(`${found === (filter.after ?? 0) + 1 ? '' : ','}${JSON.stringify(trace.json)}`)
    }
    out.write('[')
    for (let number = fromBlock; number <= toBlock && found < end; number++) {
      deadline.check()
      visitTraces(context, { traces, block: findBlock(chain, number)! }, write)
    }
    out.write(']')
    return out.end()
  },
})

function createMatcher({ fromAddress = [], toAddress = [], mode }: TraceFilter): (trace: LocalTrace) => boolean {
  const senders = new Set(fromAddress.map(formatData))
  const recipients = new Set(toAddress.map(formatData))
  const has = (set: Set<string>, value: string | undefined) => value !== undefined && set.has(value)
  if (mode === 'union' && senders.size > 0 && recipients.size > 0) {
    return ({ from, to }) => has(senders, from) || has(recipients, to)
  }
  return ({ from, to }) => (senders.size === 0 || has(senders, from)) && (recipients.size === 0 || has(recipients, to))
}
