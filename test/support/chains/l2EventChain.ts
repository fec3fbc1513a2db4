import { deflateSync } from 'node:zlib'
import type { L2Block, L2Event, L2Receipt } from '../../../src/chain/starknet/types.js'
import { seededRandom } from '../random.js'
import { makeBlock } from './l2Blocks.js'
import { toRpcReceiptsJson } from './l2Json.js'

/** The deflated recording of a block. */
export const rawOf = (block: L2Block) => deflateSync(JSON.stringify(toRpcReceiptsJson(block, 10)))

/** A block of these receipts; nothing covers them. */
export function blockOf(values: Partial<L2Block> & { number: number; receipts: L2Receipt[] }): L2Block {
  const transactionHashes = values.receipts.map(({ transactionHash }) => transactionHash)
  const transactions = transactionHashes.map((hash) => ({ hash, kind: 'INVOKE' as const, signature: [] }))
  return makeBlock({ transactionHashes, transactions, counts: {}, ...values })
}

/** Blocks with random events over few addresses and keys; every fifth block has none. */
export function makeEventChain(count: number, seed: number, trunk: readonly L2Block[] = []): L2Block[] {
  const random = seededRandom(seed)
  const felt = (kinds: number) => BigInt(1 + random.below(kinds)) ** 30n
  const chain = [...trunk]
  while (chain.length < count) {
    const number = chain.length
    const [first, second] = [BigInt(seed * 100_000 + number * 10 + 1), BigInt(seed * 100_000 + number * 10 + 2)]
    const eventsOf = (): L2Event[] =>
      Array.from({ length: number % 5 === 4 ? 0 : random.below(6) }, () => ({
        fromAddress: felt(4),
        keys: Array.from({ length: random.below(4) }, () => felt(5)),
        data: Array.from({ length: random.below(3) }, () => felt(100)),
      }))
    const receipts = [first, second].map((transactionHash) => ({
      transactionHash,
      events: eventsOf(),
      messages: [],
      actualFee: 1n,
      gasConsumed: { l1Gas: 1n, l1DataGas: 2n, l2Gas: 3n },
    }))
    const parentHash = chain.at(-1)?.hash ?? 0n
    chain.push(blockOf({ number, parentHash, hash: first << 8n, receipts }))
  }
  return chain
}
