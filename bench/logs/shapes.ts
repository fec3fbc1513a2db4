import { formatData } from '../../src/lib/hex.js'
import { bytesOf, createRandom, EVENTS, type LogChain, topicOf } from '../../test/support/chains/logChain.js'
import type { ShapeParameters } from './parameters.js'

/** A filter as JSON has it, its range in numbers. */
export interface Question {
  fromBlock: number
  toBlock: number
  address?: string[]
  topics?: (string[] | null)[]
}

/** Kinds of shapes. `selective`: few logs match, and no long list hides them: what must be answered at once. `large`:
 *  thousands of results. `refused`: too many. `list`: a thousand values and more. */
export type ShapeKind = 'selective' | 'other' | 'large' | 'refused' | 'list'

/** A named kind of filter. */
export interface Shape {
  name: string
  kind: ShapeKind
  /** The whole range is asked for by the hash of its one block. */
  byHash?: true
  /** The n-th question of the shape. Each differs a little from the others, so that no answer can be remembered. */
  question(n: number): Question
}

/** What the shapes are made from: the chain, and what is known of it once it is stored. */
export interface ShapeSource extends ShapeParameters {
  chain: LogChain
  seed: number
}

/** The shape with as many results as an answer may have. */
export const TEN_THOUSAND = 'exactly 10,000 results'

/** The shapes in the order of the report. */
export function makeShapes(source: ShapeSource): Shape[] {
  const { chain, head, exact } = source
  const contract = (rank: number) => formatData(chain.contracts[rank])
  const wallet = (rank: number) => formatData(topicOf(chain.holder(rank)))
  const list = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
  const random = createRandom(source.seed + 77)
  const silent = list(2_000, () => formatData(bytesOf(random, 20)))
  const silentTopic = formatData(topicOf(bytesOf(random, 20)))
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
  const silentTopics = silent.slice(0, 1_000).map((address) => `0x${'0'.repeat(24)}${address.slice(2)}`)
  const scattered = wallet(source.scatteredRank)

  return [
    { name: 'cold contract', kind: 'selective', question: whole({ address: [contract(29_000)] }) },
    { name: 'popular contract, narrow range', kind: 'large', question: narrow(100, { address: [contract(0)] }) },
    { name: 'contract that never logged', kind: 'selective', question: whole({ address: [silent[0]] }) },
    { name: 'topic that was never logged', kind: 'selective', question: whole({ topics: [null, [silentTopic]] }) },
    {
      name: 'popular contract and a topic never logged',
      kind: 'selective',
      question: whole({ address: [contract(0)], topics: [null, [silentTopic]] }),
    },
    {
      name: 'popular contract and popular topic, empty',
      kind: 'selective',
      question: whole({ address: [contract(0)], topics: [[event.swapV2]] }),
    },
    {
      name: 'two popular topics, empty',
      kind: 'selective',
      question: whole({ topics: [[event.deposit], null, [wallet(0)]] }),
    },
    {
      name: 'popular pair of wallets',
      kind: 'other',
      question: whole({ topics: [[event.transfer], [wallet(20)], [wallet(21)]] }),
    },
    {
      name: 'token and wallet, in',
      kind: 'selective',
      question: whole({ address: [contract(3)], topics: [[event.transfer], null, [wallet(40)]] }),
    },
    {
      name: 'token and wallet, out',
      kind: 'selective',
      question: whole({ address: [contract(3)], topics: [[event.transfer], [wallet(40)]] }),
    },
    { name: 'wallet, in', kind: 'selective', question: whole({ topics: [[event.transfer], null, [wallet(3_000)]] }) },
    { name: 'wallet, out', kind: 'selective', question: whole({ topics: [[event.transfer], [wallet(3_000)]] }) },
    { name: 'wallet, any event', kind: 'selective', question: whole({ topics: [null, [wallet(3_000)]] }) },
    { name: 'rare event', kind: 'selective', question: whole({ topics: [[formatData(chain.signatures[1_900])]] }) },
    {
      name: 'three events of a cold pool',
      kind: 'selective',
      question: whole({ address: [contract(45_000)], topics: [[event.swapV2, event.sync, event.swapV3]] }),
    },
    { name: 'scattered thousands of results', kind: 'large', question: whole({ topics: [null, [scattered]] }) },
    {
      name: TEN_THOUSAND,
      kind: 'large',
      question: (n) => ({
        fromBlock: exact.fromBlock,
        toBlock: exact.toBlock,
        address: [exact.address, silent[1_000 + (n % 1_000)]],
      }),
    },
    { name: 'all Transfers (too many)', kind: 'refused', question: whole({ topics: [[event.transfer]] }) },
    { name: 'popular contract (too many)', kind: 'refused', question: whole({ address: [contract(0)] }) },
    {
      name: 'popular contract and its popular topic (too many)',
      kind: 'refused',
      question: whole({ address: [contract(0)], topics: [[event.transfer]] }),
    },
    { name: 'everything (too many)', kind: 'refused', question: whole({}) },
    { name: 'four topics present (too many)', kind: 'refused', question: whole({ topics: [null, null, null, null] }) },
    {
      name: 'four topics present, of a contract',
      kind: 'other',
      question: whole({ address: [contract(12)], topics: [null, null, null, null] }),
    },
    {
      name: 'four topics present, narrow range',
      kind: 'large',
      question: narrow(200, { topics: [null, null, null, null] }),
    },
    { name: 'everything in 20 blocks', kind: 'large', question: narrow(20, {}) },
    { name: 'one block by number and topic', kind: 'selective', question: narrow(1, { topics: [[event.approval]] }) },
    { name: 'one block by hash', kind: 'other', byHash: true, question: narrow(1, {}) },
    { name: '1000 cold contracts', kind: 'list', question: whole({ address: coldContracts }) },
    { name: '1000 contracts that never logged', kind: 'list', question: whole({ address: silent.slice(0, 1_000) }) },
    {
      name: '1000 popular contracts and a wallet',
      kind: 'list',
      question: whole({ address: popularContracts, topics: [null, [wallet(3_000)]] }),
    },
    {
      name: '1000 contracts, one popular, and a wallet',
      kind: 'list',
      question: whole({ address: skewedContracts, topics: [null, null, [wallet(3_000)]] }),
    },
    {
      name: '1000 cold wallets, in',
      kind: 'list',
      question: whole({ topics: [[event.transfer], null, coldWallets(40_000)] }),
    },
    {
      name: '1000 x 3 lists, cold',
      kind: 'list',
      question: whole({ address: coldContracts, topics: [null, coldWallets(40_000), coldWallets(50_000)] }),
    },
    {
      name: '1000 x 3 lists, one popular in each',
      kind: 'list',
      question: whole({ address: skewedContracts, topics: [null, skewedWallets, skewedWallets] }),
    },
    {
      name: '1000 x 3 lists, popular',
      kind: 'list',
      question: whole({ address: popularContracts, topics: [null, popularWallets, popularWallets] }),
    },
    {
      name: '1000 x 4 lists, cold',
      kind: 'list',
      question: whole({ topics: [events, coldWallets(40_000), coldWallets(50_000), coldWallets(60_000)] }),
    },
    {
      name: '1000 x 5 lists, cold',
      kind: 'list',
      question: whole({
        address: coldContracts,
        topics: [events, coldWallets(40_000), coldWallets(50_000), silentTopics],
      }),
    },
  ]
}

function mapValues<K extends string, V, W>(
  record: { readonly [key in K]: V },
  map: (value: V) => W,
): { [key in K]: W } {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value)])) as { [key in K]: W }
}
