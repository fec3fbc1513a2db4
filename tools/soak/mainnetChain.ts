import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CONTRACTS,
  linkedContract,
  makeSparseNetwork,
  storeContract,
  TRANSFER_TOPIC,
} from '../../bench/sync/sparseNetwork.js'
import { padLeft } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { accountAddress } from '../../test/support/chains/stateChain.js'
import type { SeededRandom } from '../../test/support/random.js'
import type { SoakChain, SoakFilter, SoakRequest } from './chain.js'
import { createGrowth } from './growth.js'

const MAX_DEPTH = 7
const STEP_MS = 2_000

/** Makes a chain whose blocks are of mainnet's size (400 accounts, 1,000 slots, 250 logs) in an empty directory, with a
 *  state of about `accounts` accounts to begin with. */
export async function createMainnetChain(
  datadir: string,
  random: SeededRandom,
  { accounts }: { accounts: number },
): Promise<SoakChain> {
  const db = openForWriting(datadir)
  const genesis = join(datadir, 'genesis.json')
  const network = await makeSparseNetwork(db, { accounts, slots: accounts >> 1, genesis, blockShare: 1 })
  db.pragma('wal_checkpoint(TRUNCATE)')
  const { builder, senders } = network
  const reader = createChainReader(db)
  const first = builder.chain.head.newest!.header.number
  // Blocks that the state grew with have no logs.
  const blocks = Array.from({ length: first + 1 }, (_, i) => ({ hash: reader.blockByNumber(i)!.hash, logs: [] }))
  const growth = createGrowth(db, {
    ...{ builder, senders, random, maxDepth: MAX_DEPTH, blocks },
    addBlock: async () => {
      const { block, receipts } = await network.grow()
      return { hash: block.hash, logs: receipts.flatMap(({ logs }) => logs) }
    },
  })
  /** One of the contracts that log, or of the senders, with few logs each. */
  const seldom = (own: SeededRandom, count: number) => Math.floor(count / 2) + own.below(Math.floor(count / 2))
  return {
    ...growth,
    genesis: JSON.parse(readFileSync(genesis, 'utf8')) as object,
    stepMs: [STEP_MS, STEP_MS + 1],
    oneReorgIn: 30,
    randomRequest: (own): SoakRequest => {
      const oldest = Math.max(first, growth.blocks.length - 200)
      const number = formatQuantity(oldest + own.below(Math.max(1, growth.blocks.length - MAX_DEPTH - oldest)))
      switch (own.below(6)) {
        case 0: {
          const params = [formatData(accountAddress(own.below(network.accounts))), number]
          return { kind: 'read', method: 'eth_getBalance', params }
        }
        case 1: {
          const params = [formatData(senders[own.below(senders.length)].address), 'latest']
          return { kind: 'read', method: 'eth_getTransactionCount', params }
        }
        case 2:
          return {
            kind: 'call',
            method: 'eth_call',
            params: [{ to: formatData(linkedContract(own.below(2))) }, number],
          }
        case 3:
          return { kind: 'other', method: 'eth_getBlockReceipts', params: [number] }
        default: {
          const caller = formatData(padLeft(senders[seldom(own, senders.length)].address, 32))
          const address = formatData(storeContract(seldom(own, CONTRACTS)))
          const filter = { fromBlock: '0x0', toBlock: 'latest', address, topics: [TRANSFER_TOPIC, caller] }
          return { kind: 'logs', method: 'eth_getLogs', params: [filter] }
        }
      }
    },
    randomFilter: (own): SoakFilter => {
      const caller = padLeft(senders[own.below(senders.length)].address, 32)
      switch (own.below(3)) {
        case 0:
          return { addresses: [], topics: [] }
        case 1:
          return { addresses: [storeContract(own.below(CONTRACTS))], topics: [] }
        default:
          return { addresses: [], topics: [null, [caller]] }
      }
    },
  }
}
