import { formatData } from '../../src/lib/hex.js'
import { bytesOf, createRandom, EVENTS, type LogChain, topicOf } from './logChain.js'

/** A filter as JSON has it, its range in numbers. */
export interface Question {
  fromBlock: number
  toBlock: number
  address?: string[]
  topics?: (string[] | null)[]
}

/** A named kind of filter. */
export interface Shape {
  name: string
  /** Few logs match, and a popular key or a long list does not hide them: what must be answered at once. */
  selective?: true
  /** The whole range is asked for by the hash of its one block. */
  byHash?: true
  /** The n-th question of the shape. Each differs a little from the others, so that no answer can be remembered. */
  question(n: number): Question
}

/** What the shapes are made from. */
export interface ShapeSource {
  chain: LogChain
  seed: number
  head: number
  /** How many logs have the topic 1. */
  countTopic1(topic: string): number
  /** How many logs of the contract each of its blocks has, in order. */
  blockCounts(address: string): { block: number; count: number }[]
}

const MAX_LOGS = 10_000

/** The shapes in the order of the report. */
export function makeShapes(source: ShapeSource): Shape[] {
  const { chain, head } = source
  const contract = (rank: number) => formatData(chain.contracts[rank])
  const wallet = (rank: number) => formatData(topicOf(chain.holder(rank)))
  const list = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
  const random = createRandom(source.seed + 77)
  const strangers = list(2_000, () => formatData(bytesOf(random, 20)))
  const strangerTopic = formatData(topicOf(bytesOf(random, 20)))
  const event = mapValues(EVENTS, formatData)
  const middle = Math.floor(head / 2)

  /** Over the whole chain, save its first n blocks. */
  const whole = (filter: Partial<Question>) => (n: number) => ({
    fromBlock: Math.min(n, head),
    toBlock: head,
    ...filter,
  })
  /** Over `count` blocks in the middle. */
  const narrow = (count: number, filter: Partial<Question>) => (n: number) => {
    const fromBlock = Math.max(0, Math.min(middle + n, head - count + 1))
    return { fromBlock, toBlock: Math.min(head, fromBlock + count - 1), ...filter }
  }
  const coldContracts = list(1_000, (i) => contract(28_000 + i))
  const coldWallets = (from: number) => list(1_000, (i) => wallet(from + i * 1_003))
  const popularContracts = list(1_000, contract)
  const popularWallets = list(1_000, wallet)
  const skewedContracts = [contract(0), ...coldContracts.slice(1)]
  const skewedWallets = [wallet(0), ...coldWallets(500_000).slice(1)]
  const events = list(1_000, (i) => formatData(chain.signatures[i]))
  const strangerTopics = strangers.slice(0, 1_000).map((address) => `0x${'0'.repeat(24)}${address.slice(2)}`)
  const scattered = wallet(scatteredRank(source, wallet))
  const exact = exactRange(source, contract)

  return [
    { name: 'cold contract', selective: true, question: whole({ address: [contract(29_000)] }) },
    { name: 'popular contract, narrow range', question: narrow(100, { address: [contract(0)] }) },
    { name: 'contract that never logged', selective: true, question: whole({ address: [strangers[0]] }) },
    { name: 'topic that was never logged', selective: true, question: whole({ topics: [null, [strangerTopic]] }) },
    {
      name: 'popular contract and a topic never logged',
      selective: true,
      question: whole({ address: [contract(0)], topics: [null, [strangerTopic]] }),
    },
    {
      name: 'popular contract and popular topic, empty',
      selective: true,
      question: whole({ address: [contract(0)], topics: [[event.swapV2]] }),
    },
    {
      name: 'two popular topics, empty',
      selective: true,
      question: whole({ topics: [[event.deposit], null, [wallet(0)]] }),
    },
    { name: 'popular pair of wallets', question: whole({ topics: [[event.transfer], [wallet(20)], [wallet(21)]] }) },
    {
      name: 'token and wallet, in',
      selective: true,
      question: whole({ address: [contract(3)], topics: [[event.transfer], null, [wallet(40)]] }),
    },
    {
      name: 'token and wallet, out',
      selective: true,
      question: whole({ address: [contract(3)], topics: [[event.transfer], [wallet(40)]] }),
    },
    { name: 'wallet, in', selective: true, question: whole({ topics: [[event.transfer], null, [wallet(3_000)]] }) },
    { name: 'wallet, out', selective: true, question: whole({ topics: [[event.transfer], [wallet(3_000)]] }) },
    { name: 'wallet, any event', selective: true, question: whole({ topics: [null, [wallet(3_000)]] }) },
    { name: 'rare event', selective: true, question: whole({ topics: [[formatData(chain.signatures[1_900])]] }) },
    {
      name: 'three events of a cold pool',
      selective: true,
      question: whole({ address: [contract(45_000)], topics: [[event.swapV2, event.sync, event.swapV3]] }),
    },
    { name: 'scattered thousands of results', question: whole({ topics: [null, [scattered]] }) },
    {
      name: 'exactly 10,000 results',
      question: (n) => ({ ...exact.range, address: [exact.address, strangers[1_000 + (n % 1_000)]] }),
    },
    { name: 'all Transfers (too many)', question: whole({ topics: [[event.transfer]] }) },
    { name: 'popular contract (too many)', question: whole({ address: [contract(0)] }) },
    {
      name: 'popular contract and its popular topic (too many)',
      question: whole({ address: [contract(0)], topics: [[event.transfer]] }),
    },
    { name: 'everything (too many)', question: whole({}) },
    { name: 'four topics present (too many)', question: whole({ topics: [null, null, null, null] }) },
    {
      name: 'four topics present, of a contract',
      question: whole({ address: [contract(12)], topics: [null, null, null, null] }),
    },
    { name: 'four topics present, narrow range', question: narrow(200, { topics: [null, null, null, null] }) },
    { name: 'everything in 20 blocks', question: narrow(20, {}) },
    { name: 'one block by number and topic', selective: true, question: narrow(1, { topics: [[event.approval]] }) },
    { name: 'one block by hash', byHash: true, question: narrow(1, {}) },
    { name: '1000 cold contracts', question: whole({ address: coldContracts }) },
    { name: '1000 contracts that never logged', question: whole({ address: strangers.slice(0, 1_000) }) },
    {
      name: '1000 popular contracts and a wallet',
      question: whole({ address: popularContracts, topics: [null, [wallet(3_000)]] }),
    },
    {
      name: '1000 contracts, one popular, and a wallet',
      question: whole({ address: skewedContracts, topics: [null, null, [wallet(3_000)]] }),
    },
    { name: '1000 cold wallets, in', question: whole({ topics: [[event.transfer], null, coldWallets(40_000)] }) },
    {
      name: '1000 x 3 lists, cold',
      question: whole({ address: coldContracts, topics: [null, coldWallets(40_000), coldWallets(50_000)] }),
    },
    {
      name: '1000 x 3 lists, one popular in each',
      question: whole({ address: skewedContracts, topics: [null, skewedWallets, skewedWallets] }),
    },
    {
      name: '1000 x 3 lists, popular',
      question: whole({ address: popularContracts, topics: [null, popularWallets, popularWallets] }),
    },
    {
      name: '1000 x 4 lists, cold',
      question: whole({ topics: [events, coldWallets(40_000), coldWallets(50_000), coldWallets(60_000)] }),
    },
    {
      name: '1000 x 5 lists, cold',
      question: whole({
        address: coldContracts,
        topics: [events, coldWallets(40_000), coldWallets(50_000), strangerTopics],
      }),
    },
  ]
}

/** The first wallet with no more than 9,500 logs by topic 1, which are scattered over the chain. */
function scatteredRank({ countTopic1 }: ShapeSource, wallet: (rank: number) => string): number {
  let rank = 0
  while (rank < 1_000 && countTopic1(wallet(rank)) > 9_500) rank++
  return rank
}

/** A contract and a range in which it has exactly 10,000 logs; on a chain too short for that, all it has. */
function exactRange(
  { head, blockCounts }: ShapeSource,
  contract: (rank: number) => string,
): { address: string; range: { fromBlock: number; toBlock: number } } {
  for (let rank = 1; rank < 100; rank++) {
    const counts = blockCounts(contract(rank))
    for (let start = 0; start < Math.min(50, counts.length); start++) {
      let sum = 0
      let end = start
      while (end < counts.length && sum < MAX_LOGS) sum += counts[end++].count
      if (sum < MAX_LOGS) break
      const range = { fromBlock: counts[start].block, toBlock: counts[end - 1].block }
      if (sum === MAX_LOGS) return { address: contract(rank), range }
    }
  }
  return { address: contract(1), range: { fromBlock: 0, toBlock: head } }
}

function mapValues<K extends string, V, W>(
  record: { readonly [key in K]: V },
  map: (value: V) => W,
): { [key in K]: W } {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value)])) as { [key in K]: W }
}
