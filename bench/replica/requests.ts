import type { SeededRandom } from '../../test/support/random.js'

/** What the clients ask about. */
export interface Asked {
  readonly logger: string
  readonly topic: string
  /** Hashes of transactions. */
  readonly transactions: readonly string[]
  /** Newest block. */
  readonly head: number
}

/** Kinds of requests, in equal shares. */
export const KINDS = ['eth_getLogs', 'eth_call', 'eth_getBlockByNumber', 'eth_getTransactionReceipt'] as const

/** A kind of request. */
export type Kind = (typeof KINDS)[number]

/** Parameters of a request of the kind, drawn at random. */
export function drawParameters(kind: Kind, asked: Asked, random: SeededRandom): unknown[] {
  const quantity = (n: number) => `0x${n.toString(16)}`
  const word = (n: number) => n.toString(16).padStart(64, '0')
  switch (kind) {
    case 'eth_getLogs': {
      const fromBlock = random.below(asked.head)
      const topics = [asked.topic, `0x${word(random.below(20))}`]
      const range = { fromBlock: quantity(fromBlock), toBlock: quantity(Math.min(fromBlock + 500, asked.head)) }
      return [{ address: asked.logger, topics, ...range }]
    }
    case 'eth_call': {
      const data = `0x${word(random.below(30))}${word(random.below(4))}${word(random.below(20))}`
      return [{ to: asked.logger, data }, random.below(2) === 0 ? 'latest' : quantity(1 + random.below(asked.head))]
    }
    case 'eth_getBlockByNumber':
      return [quantity(random.below(asked.head)), true]
    case 'eth_getTransactionReceipt':
      return [asked.transactions[random.below(asked.transactions.length)]]
  }
}
