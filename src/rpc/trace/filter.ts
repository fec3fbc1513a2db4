import { formatData } from '../../lib/hex.js'
import { BLOCK_NOT_HELD, findBlock, resolveNumber } from '../core/blockId.js'
import { INVALID_PARAMS, InvalidValue } from '../core/errors.js'
import { createJsonOutput } from '../core/jsonOutput.js'
import { defineMethod } from '../core/method.js'
import { address, arrayOf, blockNumberOrTag, integerBetween, maybe, objectOf, required } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { type LocalTrace, visitTraces } from './flatTraces.js'
import { FLAT_TRACES_SCHEMA } from './schemas.js'

/** Blocks that one filter may execute. */
export const MAX_FILTER_BLOCKS = 1000

const MAX_ADDRESSES = 1000
const count = integerBetween(0, Number.MAX_SAFE_INTEGER)

const filterType = objectOf({
  fromBlock: maybe(blockNumberOrTag),
  toBlock: maybe(blockNumberOrTag),
  fromAddress: maybe(arrayOf(address)),
  toAddress: maybe(arrayOf(address)),
  after: maybe(count),
  count: maybe(count),
})

export const traceFilter = defineMethod({
  name: 'trace_filter',
  summary: 'Calls and rewards of blocks, by sender and recipient.',
  description:
    `In OpenEthereum's shape, in chain order, of at most ${MAX_FILTER_BLOCKS} blocks, which are executed again. A trace matches if its sender is ` +
    'one of `fromAddress` and its recipient one of `toAddress`; an absent list matches all. `after` traces are skipped, at most ' +
    '`count` are answered. Missing bounds are the head.',
  cost: 'evm',
  isTrace: true,
  params: [required('filter', filterType, '`fromBlock`, `toBlock`, `fromAddress`, `toAddress`, `after`, `count`')],
  result: { name: 'traces', schema: FLAT_TRACES_SCHEMA },
  errors: [
    {
      code: INVALID_PARAMS,
      message: `invalid argument 0: filter: N blocks, the limit is ${MAX_FILTER_BLOCKS}`,
      when: 'the range has more blocks, of those that are held',
    },
    BLOCK_NOT_HELD,
    ...TRACE_ERRORS,
  ],
  handler: async (context, filter) => {
    const { chain, deadline } = context
    const traces = await context.loadTraces()
    const from = resolveNumber(chain, filter.fromBlock ?? 'latest') ?? 0
    const to = Math.min(resolveNumber(chain, filter.toBlock ?? 'latest') ?? 0, chain.head() ?? 0)
    const blocks = to - from + 1
    if (blocks > MAX_FILTER_BLOCKS) {
      throw new InvalidValue(`filter: ${blocks} blocks, the limit is ${MAX_FILTER_BLOCKS}`)
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
    for (let number = from; number <= to && found < end; number++) {
      deadline.check()
      visitTraces(context, { traces, block: findBlock(chain, number)! }, write)
    }
    out.write(']')
    return out.end()
  },
})

interface Ends {
  fromAddress?: Uint8Array[]
  toAddress?: Uint8Array[]
}

/** @throws InvalidValue for more addresses than a filter may have */
function createMatcher({ fromAddress = [], toAddress = [] }: Ends): (trace: LocalTrace) => boolean {
  const given = fromAddress.length + toAddress.length
  if (given > MAX_ADDRESSES) throw new InvalidValue(`filter: ${given} addresses, the limit is ${MAX_ADDRESSES}`)
  const senders = new Set(fromAddress.map(formatData))
  const recipients = new Set(toAddress.map(formatData))
  const has = (set: Set<string>, value: string | undefined) => set.size === 0 || (value !== undefined && set.has(value))
  return ({ from, to }) => has(senders, from) && has(recipients, to)
}
