import { formatData, formatQuantity } from '../../src/lib/hex.js'
import type { Sender } from '../fixture/chainBuilder.js'
import type { RandomChain } from './buildChain.js'
import { precompile } from './cast.js'

/** A transaction of the chain, as requests name it. */
export interface KnownTransaction {
  hash: string
  blockNumber: number
  index: number
}

/** What requests about a chain are made from. Addresses, hashes and slots are DATA. */
export interface ChainFacts {
  head: number
  /** By block number. */
  blockHashes: string[]
  timestamps: number[]
  transactions: KnownTransaction[]
  addresses: string[]
  /** Contracts of the genesis by name. */
  contracts: { [name: string]: string }
  senders: string[]
  authorities: readonly Sender[]
  topics: string[]
}

/** A JSON-RPC call whose error is thrown. */
export type Call = <T>(method: string, params: unknown[]) => Promise<T>

interface BlockJson {
  hash: string
  timestamp: string
  transactions: { hash: string; from: string; to: string | null }[]
}
interface ReceiptJson {
  contractAddress: string | null
  logs: { address: string; topics: string[] }[]
}

/** The facts of a chain, read from a server that has it. */
export async function readFacts(call: Call, { cast, head }: Pick<RandomChain, 'cast' | 'head'>): Promise<ChainFacts> {
  const contracts = Object.fromEntries(Object.entries(cast.contracts).map(([name, each]) => [name, formatData(each)]))
  const addresses = new Set([...cast.known, ...Array.from({ length: 20 }, (_, i) => precompile(i))].map(formatData))
  const facts: ChainFacts = {
    ...{ head, blockHashes: [], timestamps: [], transactions: [], topics: [], addresses: [], contracts },
    senders: [...cast.senders, ...cast.authorities, cast.collider].map(({ address }) => formatData(address)),
    authorities: cast.authorities,
  }
  const topics = new Set<string>()
  for (let number = 0; number <= head; number++) {
    const block = await call<BlockJson>('eth_getBlockByNumber', [formatQuantity(number), true])
    facts.blockHashes.push(block.hash)
    facts.timestamps.push(Number(block.timestamp))
    for (const [index, { hash, to }] of block.transactions.entries()) {
      facts.transactions.push({ hash, blockNumber: number, index })
      if (to !== null) addresses.add(to)
    }
    for (const receipt of await call<ReceiptJson[]>('eth_getBlockReceipts', [formatQuantity(number)])) {
      if (receipt.contractAddress !== null) addresses.add(receipt.contractAddress)
      for (const log of receipt.logs) {
        addresses.add(log.address)
        for (const topic of log.topics) topics.add(topic)
      }
    }
  }
  facts.addresses = [...addresses]
  facts.topics = [...topics]
  return facts
}
