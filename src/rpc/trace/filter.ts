import { hasExternalRewards } from '../../evm/tracing/blockRewards.js'
import { hasRewards } from '../../evm/transition/blockEnd.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
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
import type { LocalTrace } from './flatTraces.js'
import { writeMatches } from './indexedTraces.js'
import { FLAT_TRACES_SCHEMA } from './schemas.js'

/** Max blocks of a filter that is not answered from the trace index. */
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
    `In OpenEthereum's shape, in chain order, of at most ${MAX_FILTER_BLOCKS} blocks, which are executed again. With the trace index ` +
    '(`--traces on`) only transactions with traces that match are executed, and a filter with addresses may have any range, as far as ' +
    'the time limit allows. A trace matches if its sender is ' +
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
      when: 'the range has more available blocks, and the filter no addresses or the database no trace index',
    },
    TWO_RANGES,
    REVERSED_RANGE,
    RANGE_BEYOND_HEAD,
    UNKNOWN_BLOCK,
    BLOCK_UNAVAILABLE,
    ...TRACE_ERRORS,
  ],
  handler: async (context, filter) => {
    const { chain, deadline, traceIndex } = context
    const traces = await context.loadTraces()
    const { fromBlock, toBlock } = resolveRange(chain, filter)
    const blocks = toBlock - fromBlock + 1
    const addresses = [...(filter.fromAddress ?? []), ...(filter.toAddress ?? [])]
    if (blocks > MAX_FILTER_BLOCKS && (addresses.length === 0 || !traceIndex.isComplete())) {
      throw invalidParams(`invalid argument 0: filter: ${blocks} blocks, the limit is ${MAX_FILTER_BLOCKS}`)
    }
    const known = addresses.map(traceIndex.idOf).filter((id) => id !== undefined)
    const selection = {
      ids: addresses.length === 0 ? undefined : new Set(known),
      matches: createMatcher(filter),
      rewarded: addresses.length === 0 ? undefined : (filter.toAddress ?? []),
    }
    const out = createJsonOutput(context.sendPart)
    const { after = 0 } = filter
    const end = after + (filter.count ?? Infinity)
    const results = {
      count: 0,
      write: ({ json }: LocalTrace) => {
        const number = results.count++
        if (number < after || number >= end) return
        out.write(`${number === after ? '' : ','}${JSON.stringify(json)}`)
      },
      hasPartOf: (from: number, to: number) => to > after && from < end,
    }
    out.write('[')
    for (const number of candidateBlocks(context, filter, { fromBlock, toBlock })) {
      if (results.count >= end) break
      deadline.check()
      writeMatches(context, { traces, block: findBlock(chain, number)!, selection }, results)
    }
    out.write(']')
    return out.end()
  },
})

// Blocks whose appearances are read together.
const WINDOW_BLOCKS = 20_000
// Searching for more addresses takes longer than looking into the rows of a window.
const MAX_SEARCHED = 16

/** The blocks of the range that may have traces of the addresses, ascending: by the address index where it is complete
 *  and the range is long, else all. */
function* candidateBlocks(
  { chain, appearances, deadline }: RpcContext,
  { fromAddress = [], toAddress = [] }: TraceFilter,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Generator<number> {
  const addresses = [...fromAddress, ...toAddress]
  const isSearched =
    toBlock - fromBlock >= MAX_FILTER_BLOCKS && addresses.length <= MAX_SEARCHED && appearances.isComplete()
  // Rewards are in no transaction. There are none after blocks without.
  const isWithoutRewards = () => {
    const spec = chain.spec()
    if (hasExternalRewards(spec) && toAddress.length > 0) return false
    return !hasRewards(chain.rulesOf(chain.blockByNumber(fromBlock)!), spec)
  }
  if (!isSearched || !isWithoutRewards()) {
    for (let number = fromBlock; number <= toBlock; number++) yield number
    return
  }
  for (let first = fromBlock; first <= toBlock; first += WINDOW_BLOCKS) {
    const last = Math.min(first + WINDOW_BLOCKS - 1, toBlock)
    const found = new Set<number>()
    for (const address of addresses) {
      appearances.search(address, { fromBlock: first, toBlock: last, newestFirst: false, deadline }, (block) => {
        found.add(block.blockNumber)
        return true
      })
    }
    yield* Array.from(found).sort((a, b) => a - b)
  }
}

function createMatcher({ fromAddress = [], toAddress = [], mode }: TraceFilter): (trace: LocalTrace) => boolean {
  const senders = new Set(fromAddress.map(formatData))
  const recipients = new Set(toAddress.map(formatData))
  const has = (set: Set<string>, value: string | undefined) => value !== undefined && set.has(value)
  if (mode === 'union' && senders.size > 0 && recipients.size > 0) {
    return ({ from, to }) => has(senders, from) || has(recipients, to)
  }
  return ({ from, to }) => (senders.size === 0 || has(senders, from)) && (recipients.size === 0 || has(recipients, to))
}
