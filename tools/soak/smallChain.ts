import { formatData, formatQuantity } from '../../src/lib/hex.js'
import {
  BRANCHES_GENESIS,
  LOGGED,
  LOGGER,
  openBranches,
  randomPlan,
  SENDERS,
} from '../../test/support/chains/branches.js'
import type { SeededRandom } from '../../test/support/random.js'
import { createChainBuilder } from '../fixture/chainBuilder.js'
import type { SoakChain, SoakFilter, SoakRequest } from './chain.js'
import { createGrowth } from './growth.js'

const MAX_DEPTH = 64
const MAX_TRANSACTIONS = 8

/** Makes a chain of small blocks in an empty directory, which come faster than those of a network. */
export async function createSmallChain(datadir: string, random: SeededRandom): Promise<SoakChain> {
  const { db } = await openBranches(datadir)
  const builder = await createChainBuilder(db, BRANCHES_GENESIS)
  const growth = createGrowth(db, {
    ...{ builder, senders: SENDERS, random, maxDepth: MAX_DEPTH },
    blocks: [{ hash: builder.chain.head.newest!.hash, logs: [] }],
    addBlock: async () => {
      const transactions = Array.from({ length: random.below(MAX_TRANSACTIONS) }, () => randomPlan(random))
      const { block, receipts } = await builder.add({ transactions, extraData: random.bytes(8) })
      return { hash: block.hash, logs: receipts.flatMap(({ logs }) => logs) }
    },
  })
  return {
    ...growth,
    genesis: BRANCHES_GENESIS,
    stepMs: [300, 1_100],
    oneReorgIn: 12,
    randomRequest: (own) => randomRequest(Math.max(0, growth.blocks.length - 80), own),
    randomFilter,
  }
}

function numberTopic(value: number): Uint8Array {
  const topic = new Uint8Array(32)
  topic[31] = value
  return topic
}

/** About blocks 0 to `head`. */
function randomRequest(head: number, random: SeededRandom): SoakRequest {
  const number = formatQuantity(random.below(head + 1))
  const to = formatData(LOGGER)
  switch (random.below(8)) {
    case 0:
      return { kind: 'other', method: 'eth_getBlockByNumber', params: [number, true] }
    case 1:
      return { kind: 'other', method: 'eth_getBlockReceipts', params: [number] }
    case 2: {
      const params = [formatData(SENDERS[random.below(3)].address), number]
      return { kind: 'read', method: 'eth_getBalance', params }
    }
    case 3:
      return { kind: 'read', method: 'eth_getStorageAt', params: [to, formatQuantity(random.below(30)), number] }
    case 4: {
      const words = [random.below(30), random.below(4), random.below(20)].map(numberTopic)
      const data = `0x${words.map((word) => Buffer.from(word).toString('hex')).join('')}`
      return { kind: 'call', method: 'eth_call', params: [{ to, data }, number] }
    }
    case 5:
      return { kind: 'other', method: 'eth_newFilter', params: [{ address: to }] }
    default: {
      const fromBlock = formatQuantity(Math.max(0, head - random.below(400)))
      const topics = random.below(2) ? [formatData(LOGGED), formatData(numberTopic(random.below(20)))] : []
      return { kind: 'logs', method: 'eth_getLogs', params: [{ fromBlock, toBlock: 'latest', address: to, topics }] }
    }
  }
}

/** All logs, those of some numbers, or those of a slot. */
function randomFilter(random: SeededRandom): SoakFilter {
  const addresses = random.below(2) ? [LOGGER] : []
  switch (random.below(3)) {
    case 0:
      return { addresses, topics: [] }
    case 1:
      return { addresses, topics: [[LOGGED], [random.below(20), random.below(20)].map(numberTopic)] }
    default:
      return { addresses, topics: [null, null, [numberTopic(random.below(30))]] }
  }
}
