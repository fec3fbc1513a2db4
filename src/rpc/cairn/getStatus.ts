import { formatData, formatQuantity } from '../../lib/hex.js'
import type { BlockInterval } from '../../store/rows/coverage.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod, type JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { hash32, index, integerBetween, optional, quantity } from '../core/params.js'
import { orNull } from '../eth/schemas.js'

const MAX_BLOCKS = 256

const count: JsonSchema = { type: 'integer', minimum: 0 }
const felt: JsonSchema = { type: 'string', pattern: '^0x(0|[1-9a-f][0-9a-f]{0,62})$' }

const STATUS_SCHEMA = objectSchema('Status', {
  version: { type: 'string', description: 'Version of Cairn.' },
  chainId: orNull(quantity.schema),
  head: orNull(objectSchema('StatusHead', { number: index.schema, hash: hash32.schema, timestamp: quantity.schema })),
  safe: orNull(index.schema),
  finalized: orNull(index.schema),
  coverage: {
    ...orNull(
      objectSchema('StatusCoverage', {
        fromBlock: index.schema,
        toBlock: index.schema,
        stateFromBlock: orNull(index.schema),
        closedStates: {
          type: 'array',
          items: objectSchema('StatusInterval', { fromBlock: index.schema, toBlock: index.schema }),
          description: 'Earlier intervals of blocks with state, with sparse state.',
        },
        listedStates: {
          type: 'array',
          items: objectSchema('StatusInterval', { fromBlock: index.schema, toBlock: index.schema }),
          description: 'Blocks whose states come from access lists (EIP-7928): what they changed is known.',
        },
        known: {
          ...orNull(objectSchema('StatusKnown', { accounts: count, slots: count })),
          description: 'Accounts and slots that are known since `stateFromBlock`; null where all are, or none.',
        },
        gap: orNull(objectSchema('StatusGap', { fromBlock: index.schema, toBlock: index.schema })),
      }),
    ),
    description: 'Stored blocks, those with state, and those that are still to be fetched.',
  },
  highestBlock: { ...orNull(index.schema), description: 'Head of the upstream while the server is behind it.' },
  counts: {
    ...objectSchema('StatusCounts', { transactions: count, logs: count }),
    description: 'Of all stored blocks.',
  },
  l2: orNull(
    objectSchema('StatusL2', {
      fromBlock: index.schema,
      head: index.schema,
      headHash: felt,
      acceptedOnL1: orNull(index.schema),
    }),
  ),
  replication: {
    ...orNull(
      objectSchema('StatusReplication', {
        role: { enum: ['writer', 'replica', 'standby', 'none'] },
        state: { enum: ['following', 'catching up', 'alarm', 'failed'] },
        epoch: count,
        sequence: count,
        lagBlocks: orNull(count),
        lagSeconds: { type: 'number', minimum: 0 },
      }),
    ),
    description: 'The part of this server in replication; null where it takes none.',
  },
  headSource: {
    ...orNull({ enum: ['consensus client', 'upstreams', 'replication'] }),
    description: 'What drives the head of this server; null for blocks from files.',
  },
  forwardsTransactions: { type: 'boolean', description: 'True if `eth_sendRawTransaction` is served.' },
  database: {
    ...objectSchema('StatusDatabase', { bytes: count, walBytes: count, freeBytes: count }),
    description: 'Bytes of the database file, of its write-ahead log, and of unused pages.',
  },
  calls: {
    ...objectSchema('StatusCalls', { count, uptimeSeconds: { type: 'number', minimum: 0 } }),
    description: 'Calls that this server has taken since it started, this one included.',
  },
  blocks: {
    type: 'array',
    items: objectSchema('StatusBlock', {
      number: index.schema,
      hash: hash32.schema,
      timestamp: quantity.schema,
      transactions: count,
      logs: count,
      gasUsed: quantity.schema,
      gasLimit: quantity.schema,
      baseFeePerGas: orNull(quantity.schema),
      size: count,
    }),
    description: 'The newest blocks, oldest first.',
  },
})

export const getStatus = defineMethod({
  name: 'cairn_getStatus',
  summary: 'What this server holds, how large it is, its newest blocks and how many calls it has taken.',
  description:
    'A Cairn extension, for the overview of the page. From two answers follows the rate of calls: the difference of ' +
    '`calls.count` divided by that of `calls.uptimeSeconds`. Counts and bytes are JSON numbers, block numbers are quantities.',
  cost: 'point',
  classes: ['node'],
  chainless: true,
  params: [optional('blocks', integerBetween(0, MAX_BLOCKS), 'newest blocks to return', 0)],
  result: { name: 'status', schema: STATUS_SCHEMA },
  errors: [],
  handler: (context, blocks) => {
    const { calls, databaseSizes, clientVersion } = context
    return {
      version: /v([^/]+)/.exec(clientVersion)?.[1] ?? clientVersion,
      ...describeChain(context, blocks),
      l2: describeL2(context),
      replication: describeReplication(context),
      headSource: context.headSource ?? null,
      forwardsTransactions: context.forwardTransaction !== undefined,
      database: databaseSizes(),
      calls: {
        count: calls?.count ?? 0,
        uptimeSeconds: calls === undefined ? 0 : Math.round(performance.now() - calls.sinceMs) / 1000,
      },
    }
  },
})

function describeChain({ chain, syncProgress }: RpcContext, wanted: number) {
  const coverage = chain.coverage()
  const head = coverage && chain.blockByNumber(coverage.head)
  if (coverage === undefined || head === undefined) {
    const none = { chainId: null, head: null, safe: null, finalized: null, coverage: null, highestBlock: null }
    return { ...none, counts: { transactions: 0, logs: 0 }, blocks: [] }
  }
  const finality = chain.finality()
  const gap = chain.gap()
  return {
    chainId: formatQuantity(chain.chainId()),
    head: {
      number: formatQuantity(coverage.head),
      hash: formatData(head.hash),
      timestamp: formatQuantity(head.header.timestamp),
    },
    safe: blockOrNull(finality?.safe),
    finalized: blockOrNull(finality?.finalized),
    coverage: {
      fromBlock: formatQuantity(coverage.first),
      toBlock: formatQuantity(coverage.head),
      stateFromBlock: blockOrNull(coverage.stateFirst),
      closedStates: formatIntervals(coverage.closedStates),
      listedStates: formatIntervals(coverage.listedStates),
      known: coverage.known ?? null,
      gap: gap ? { fromBlock: formatQuantity(gap.from), toBlock: formatQuantity(gap.to) } : null,
    },
    highestBlock: blockOrNull(syncProgress()?.highestBlock),
    counts: countItems(chain, head, coverage.first),
    blocks: newestBlocks(chain, coverage, wanted).map(formatBlock),
  }
}

function formatIntervals(intervals: readonly BlockInterval[] = []) {
  return intervals.map(({ first, last }) => ({ fromBlock: formatQuantity(first), toBlock: formatQuantity(last) }))
}

/** Transactions and logs of the blocks [first, head]: ids are dense. */
function countItems(chain: RpcContext['chain'], head: StoredBlock, first: number) {
  const { firstTx, firstLog } = chain.blockByNumber(first)!
  return {
    transactions: head.firstTx + head.txCount - firstTx,
    logs: head.firstLog + head.logCount - firstLog,
  }
}

/** The newest blocks, at most `wanted`, oldest first. */
function newestBlocks(
  chain: RpcContext['chain'],
  { first, head }: { first: number; head: number },
  wanted: number,
): StoredBlock[] {
  const blocks: StoredBlock[] = []
  for (let number = Math.max(first, head - wanted + 1); number <= head; number++) {
    const block = chain.blockByNumber(number)
    if (block !== undefined) blocks.push(block) // a reorg may have removed it meanwhile
  }
  return blocks
}

function formatBlock({ hash, header, txCount, logCount, sizeBytes }: StoredBlock) {
  const { baseFeePerGas } = header
  return {
    number: formatQuantity(header.number),
    hash: formatData(hash),
    timestamp: formatQuantity(header.timestamp),
    transactions: txCount,
    logs: logCount,
    gasUsed: formatQuantity(header.gasUsed),
    gasLimit: formatQuantity(header.gasLimit),
    baseFeePerGas: baseFeePerGas === undefined ? null : formatQuantity(baseFeePerGas),
    size: sizeBytes,
  }
}

function describeL2({ l2 }: RpcContext) {
  const [first, head] = [l2.first(), l2.head()]
  if (first === undefined || head === undefined) return null
  return {
    fromBlock: formatQuantity(first.number),
    head: formatQuantity(head.number),
    headHash: `0x${head.hash.toString(16)}`,
    acceptedOnL1: blockOrNull(l2.blockAcceptedOnL1()?.number),
  }
}

// Omits the problem, which may name other servers; /health has it.
function describeReplication({ replication }: RpcContext) {
  const facts = replication?.()
  if (facts === undefined) return null
  const { role, state, epoch, sequence, lagBlocks, lagSeconds } = facts
  return { role, state, epoch, sequence, lagBlocks, lagSeconds }
}

function blockOrNull(number: number | undefined): string | null {
  return number === undefined || number < 0 ? null : formatQuantity(number)
}
