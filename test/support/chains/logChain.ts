import { keccak256 } from '../../../src/chain/crypto.js'
import type { Log } from '../../../src/chain/eth/types.js'
import { concatBytes } from '../../../src/lib/bytes.js'

/** The logs of one synthetic block, by transaction. */
export type BlockLogs = Log[][]

/** A chain of logs as mainnet's are: few contracts and topics have most of them, holders repeat, data are ABI words.
 *  The same for the same seed. */
export interface LogChain {
  /** Logs of the n-th block: about 250. */
  block(number: number): BlockLogs
  /** Addresses of the contracts, 20 bytes each. Those from 0, from 30,000 (pairs), from 50,000 (pools) and from 58,000
   *  (tokens by id) have most logs of their kind. */
  readonly contracts: Uint8Array[]
  /** Topics 0 of the rare events, 32 bytes each, the most frequent first. */
  readonly signatures: Uint8Array[]
  /** Address of a holder, 20 bytes; rank 0 is in most logs, at most 2,999,999. */
  holder(rank: number): Uint8Array
}

const CONTRACTS = 60_000
const HOLDERS = 3_000_000
const SIGNATURES = 2_000
// Holders up to this rank are in four of five logs: their topics are made once.
const HOT_HOLDERS = 100_000

const signature = (text: string) => keccak256(new TextEncoder().encode(text))
/** Topic 0 of the events that most logs are of. */
export const EVENTS = {
  transfer: signature('Transfer(address,address,uint256)'),
  approval: signature('Approval(address,address,uint256)'),
  swapV2: signature('Swap(address,uint256,uint256,uint256,uint256,address)'),
  swapV3: signature('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  sync: signature('Sync(uint112,uint112)'),
  deposit: signature('Deposit(address,uint256)'),
  withdrawal: signature('Withdrawal(address,uint256)'),
} as const

/** A chain for the seed. Making a log costs about 4 µs. */
export function createLogChain(seed: number): LogChain {
  const contracts = Array.from({ length: CONTRACTS }, (_, i) => namedAddress(seed, 1, i))
  const signatures = Array.from({ length: SIGNATURES }, (_, i) => signature(`Event${i}(uint256)`))
  const holder = (rank: number) => namedAddress(seed, 2, rank)
  const hot: Uint8Array[] = []
  const holderTopic = (rank: number) => {
    if (rank >= HOT_HOLDERS) return topicOf(holder(rank))
    hot[rank] ??= topicOf(holder(rank))
    return hot[rank]
  }
  const block = (number: number): BlockLogs => {
    const random = createRandom(seed * 1_000_003 + number)
    const transactions: BlockLogs = []
    for (let logs = 0; logs < 250; ) {
      const own = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomLog(random))
      transactions.push(own)
      logs += own.length
    }
    return transactions
  }
  const randomLog = (random: () => number): Log => {
    const contract = (from: number, to: number) => contracts[from + zipf(random, to - from)]
    const someone = () => holderTopic(zipf(random, HOLDERS))
    const kind = random()
    if (kind < 0.55) return log(contract(0, 30_000), [EVENTS.transfer, someone(), someone()], [amount(random)])
    if (kind < 0.61) return log(contract(0, 30_000), [EVENTS.approval, someone(), someone()], [amount(random)])
    if (kind < 0.69) {
      const router = topicOf(contracts[zipf(random, 20)])
      return log(
        contract(30_000, 50_000),
        [EVENTS.swapV2, router, someone()],
        [amount(random), ZERO, ZERO, amount(random)],
      )
    }
    if (kind < 0.77) return log(contract(30_000, 50_000), [EVENTS.sync], [amount(random), amount(random)])
    if (kind < 0.83) {
      const words = [
        amount(random),
        negative(amount(random)),
        bytesOf(random, 20),
        bytesOf(random, 9),
        bytesOf(random, 3),
      ]
      return log(contract(50_000, 58_000), [EVENTS.swapV3, someone(), someone()], words)
    }
    if (kind < 0.9) {
      return log(contracts[0], [random() < 0.5 ? EVENTS.deposit : EVENTS.withdrawal, someone()], [amount(random)])
    }
    if (kind < 0.93)
      return log(contract(58_000, 60_000), [EVENTS.transfer, someone(), someone(), topicOf(bytesOf(random, 3))], [])
    const topics = [signatures[zipf(random, SIGNATURES)]]
    for (let i = Math.floor(random() * 4); i > 0; i--)
      topics.push(random() < 0.5 ? someone() : topicOf(bytesOf(random, 32)))
    return log(
      contract(0, CONTRACTS),
      topics,
      Array.from({ length: 1 + Math.floor(random() * 7) }, () => amount(random)),
    )
  }
  return { block, contracts, signatures, holder }
}

const ZERO = new Uint8Array(0)

function log(address: Uint8Array, topics: Uint8Array[], words: Uint8Array[]): Log {
  const data = new Uint8Array(words.length * 32)
  for (const [i, word] of words.entries()) data.set(word, i * 32 + 32 - word.length)
  return { address, topics, data }
}

/** A value as a topic: 32 bytes with zeros in front. */
export function topicOf(value: Uint8Array): Uint8Array {
  const topic = new Uint8Array(32)
  topic.set(value, 32 - value.length)
  return topic
}

/** A token amount: 4 to 10 bytes. */
function amount(random: () => number): Uint8Array {
  return bytesOf(random, 4 + Math.floor(random() * 7))
}

function negative(value: Uint8Array): Uint8Array {
  return concatBytes(new Uint8Array(32 - value.length).fill(0xff), value)
}

/** Random bytes whose first is not zero. */
export function bytesOf(random: () => number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = random() * 256
  if (bytes[0] === 0) bytes[0] = 1
  return bytes
}

/** A rank below `count`: the k-th is about 1/k as likely as the first. */
function zipf(random: () => number, count: number): number {
  return Math.min(count - 1, Math.floor(count ** random()) - 1)
}

function namedAddress(seed: number, kind: number, index: number): Uint8Array {
  const random = createRandom(seed * 7_919 + kind * 15_485_863 + index)
  return bytesOf(random, 20)
}

/** Numbers in [0, 1), the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
