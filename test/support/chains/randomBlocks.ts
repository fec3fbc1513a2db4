import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block, Log, Receipt, Transaction, TransactionType } from '../../../src/chain/eth/types.js'
import { padLeft } from '../../../src/lib/bytes.js'
import type { SeededRandom } from '../random.js'
import { blockAt } from './blocks.js'

/** A block and the outcome of its transactions. */
export interface OutcomeBlock {
  block: Block
  receipts: Receipt[]
}

/** Integers at which their form in a row changes. */
export const UINT_EDGES = [
  ...[0n, 1n, 2n ** 8n - 1n, 2n ** 8n, 2n ** 32n - 1n, 2n ** 32n],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n],
]
/** Lengths of bytes: edges of one-byte lengths, and the usual ones. */
export const BYTE_LENGTHS = [0, 1, 20, 32, 80, 81, 0xef, 0xf0, 300]

export function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.below(values.length)]
}

/** An edge, or an integer of 1 to 256 bits. */
export function randomUint(random: SeededRandom): bigint {
  if (random.below(2) === 0) return pick(random, UINT_EDGES)
  const bits = 1 + random.below(256)
  let value = 0n
  for (let at = 0; at < bits; at += 16) value = (value << 16n) | BigInt(random.below(2 ** 16))
  return BigInt.asUintN(bits, value)
}

/** 32 bytes, often with zeros in front, or of zeros alone. */
export function randomWord(random: SeededRandom): Uint8Array {
  return padLeft(random.bytes(random.below(33)), 32)
}

/** A log of 0 to 4 topics, from one of a few addresses or from a new one. */
export function randomLog(random: SeededRandom): Log {
  const address = random.below(2) === 0 ? new Uint8Array(20).fill(random.below(4)) : random.bytes(20)
  const topics = Array.from({ length: random.below(5) }, () => randomWord(random))
  const kinds = [
    () => new Uint8Array(0),
    () => new Uint8Array(1 + random.below(400)),
    () => randomWord(random),
    () => padLeft(random.bytes(random.below(300)), 300),
    () => random.bytes(random.below(20) === 0 ? 10_000 : 33),
  ]
  return { address, topics, data: pick(random, kinds)() }
}

/** A block of that number with 0 to `maxTransactions` transactions of all types, and receipts with status or root. No
 *  two calls give the same hashes. What a verifier would look at is not right: signatures, roots, sums. */
export function randomBlock(random: SeededRandom, number: number, maxTransactions = 8): OutcomeBlock {
  const transactions = Array.from({ length: random.below(maxTransactions + 1) }, () => randomTransaction(random))
  const receipts = transactions.map((transaction) => randomReceipt(random, transaction))
  const { header, ...rest } = blockAt(number)
  const named = { ...header, extraData: random.bytes(32) }
  return { block: { ...rest, hash: hashHeader(named), header: named, transactions }, receipts }
}

/** The same with one transaction at least. */
export function filledBlock(random: SeededRandom, number: number): OutcomeBlock {
  for (;;) {
    const made = randomBlock(random, number)
    if (made.block.transactions.length > 0) return made
  }
}

/** A block of that number with a transaction of each type and, for each of them, a receipt with status and one with
 *  root, and with logs whose data is empty, zeros, a word and 10,000 bytes. */
export function blockOfAllKinds(random: SeededRandom, number: number): OutcomeBlock {
  const { block } = randomBlock(random, number)
  const types: TransactionType[] = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
  const transactions = types.map((type) => randomTransaction(random, type))
  Object.assign(transactions[0], { to: undefined, chainId: undefined, input: random.bytes(100_000) })
  Object.assign(transactions[1], { to: undefined, input: new Uint8Array(0) })
  const address = random.bytes(20)
  const datas = [new Uint8Array(0), new Uint8Array(32), new Uint8Array(77), random.bytes(32), random.bytes(10_000)]
  const receipts = transactions.map((transaction, index) => {
    const outcome = index < 5 ? { status: 1 as const, root: undefined } : { status: undefined, root: random.bytes(32) }
    const logs = datas.map((data, i) => ({
      address,
      topics: Array.from({ length: i }, () => randomWord(random)),
      data,
    }))
    return { ...randomReceipt(random, transaction), ...outcome, logs, logsBloom: bloomOf(logs) }
  })
  return { block: { ...block, transactions }, receipts }
}

/** A transaction of the type, or of a random one. */
export function randomTransaction(random: SeededRandom, type = random.below(5) as TransactionType): Transaction {
  const uint = () => randomUint(random)
  const list = <T>(limit: number, make: () => T) => Array.from({ length: random.below(limit) }, make)
  const transaction: Transaction = {
    type,
    hash: random.bytes(32),
    from: random.bytes(20),
    chainId: type === 0 && random.below(2) === 0 ? undefined : uint(),
    nonce: uint(),
    gasLimit: uint(),
    to: type < 3 && random.below(3) === 0 ? undefined : random.bytes(20),
    value: uint(),
    input: random.bytes(random.below(50) === 0 ? 100_000 : pick(random, BYTE_LENGTHS)),
    v: uint(),
    r: uint(),
    s: uint(),
  }
  if (type <= 1) transaction.gasPrice = uint()
  else Object.assign(transaction, { maxPriorityFeePerGas: uint(), maxFeePerGas: uint() })
  if (type >= 1) {
    const storageKeys = () => list(4, () => randomWord(random))
    transaction.accessList = list(4, () => ({ address: random.bytes(20), storageKeys: storageKeys() }))
  }
  if (type === 3) {
    transaction.maxFeePerBlobGas = uint()
    transaction.blobVersionedHashes = list(10, () => random.bytes(32))
  }
  if (type === 4) {
    const scalars = () => ({ chainId: uint(), nonce: BigInt(random.below(1_000)), r: uint(), s: uint() })
    const authorization = () => ({ ...scalars(), address: random.bytes(20), yParity: BigInt(random.below(2)) })
    transaction.authorizationList = list(4, authorization)
  }
  return transaction
}

/** An outcome of the transaction with 0 to 39 logs. */
export function randomReceipt(random: SeededRandom, { type, to }: Transaction): Receipt {
  const logs = Array.from({ length: random.below(4) === 0 ? random.below(40) : random.below(3) }, () =>
    randomLog(random),
  )
  const hasStatus = random.below(2) === 0
  return {
    type,
    status: hasStatus ? (random.below(2) as 0 | 1) : undefined,
    root: hasStatus ? undefined : random.bytes(32),
    cumulativeGasUsed: randomUint(random),
    gasUsed: randomUint(random),
    effectiveGasPrice: randomUint(random),
    contractAddress: to ? undefined : random.bytes(20),
    blobGasUsed: type === 3 ? randomUint(random) : undefined,
    blobGasPrice: type === 3 ? randomUint(random) : undefined,
    logsBloom: bloomOf(logs),
    logs,
  }
}
