import { keccak256 } from '../../../src/chain/crypto.js'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { SECP256K1_N, transactionHash } from '../../../src/chain/eth/transaction.js'
import type { ConsensusReceipt, Transaction, TransactionType } from '../../../src/chain/eth/types.js'
import { trimLeft } from '../../../src/lib/bytes.js'
import type { ReplicatedBlock } from '../../../src/replication/codec/types.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { randomBlock, randomReceipt, randomTransaction, randomUint, randomWord } from '../chains/randomBlocks.js'
import type { SeededRandom } from '../random.js'

/** A block with everything that a message has, in canonical order, with addresses that recur. Fields are within their
 *  bounds on the wire; roots and signatures are not right. */
export function randomReplicatedBlock(random: SeededRandom, number: number): ReplicatedBlock {
  const transactions = Array.from({ length: random.below(12) }, () => wireTransaction(random))
  const receipts = transactions.map((transaction) => wireReceipt(random, transaction))
  const header = randomBlock(random, number).block.header
  const withdrawals = random.below(2) === 0 ? undefined : list(random, 5, () => randomWithdrawal(random))
  const uncles = list(random, 3, () => randomBlock(random, number - 1).block.header)
  const parts = { header, transactions, uncles, withdrawals }
  const sizeBytes = encodeBlock(parts).length
  const addresses = Array.from({ length: 1 + random.below(20) }, () => random.bytes(20))
  const appearances = transactions.map(() => sorted(addresses.filter(() => random.below(3) === 0)))
  return {
    block: { ...parts, hash: hashHeader(header), sizeBytes },
    receipts,
    totalDifficulty: randomUint(random),
    changes: random.below(4) === 0 ? undefined : randomChanges(random, addresses),
    appearances: random.below(4) === 0 ? undefined : appearances,
    blockAccessList: random.below(2) === 0 ? undefined : random.bytes(random.below(100)),
  }
}

/** State changes of some of the addresses, in canonical order. */
export function randomChanges(random: SeededRandom, addresses: readonly Uint8Array[]): StateChanges {
  const changes: StateChanges = { accounts: [], storage: [], codes: [] }
  for (const address of sorted(addresses)) {
    const incarnation = random.below(3) === 0 ? random.below(2 ** 20) : random.below(2)
    if (random.below(3) > 0) {
      const codeHash = random.below(2) === 0 ? undefined : random.bytes(32)
      const account = { nonce: BigInt.asUintN(64, randomUint(random)), balance: randomUint(random), codeHash }
      changes.accounts.push(random.below(4) === 0 ? { address, incarnation } : { address, incarnation, account })
    }
    const slots = new Map(list(random, 8, () => randomWord(random)).map((slot) => [trimmedHex(slot), slot]))
    for (const [, slot] of [...slots].sort(([a], [b]) => (a < b ? -1 : 1))) {
      changes.storage.push({ address, incarnation, slot, value: trimLeft(randomWord(random)) })
    }
  }
  changes.codes = list(random, 4, () => random.bytes(1 + random.below(300)))
    .map((bytes) => ({ hash: keccak256(bytes), bytes }))
    .sort((a, b) => Buffer.compare(a.hash, b.hash))
  return changes
}

function wireTransaction(random: SeededRandom): Transaction {
  const transaction = randomTransaction(random)
  const { type } = transaction
  const scalar = () => 1n + (randomUint(random) % (SECP256K1_N - 1n))
  transaction.nonce = BigInt.asUintN(64, transaction.nonce)
  transaction.gasLimit = BigInt.asUintN(64, transaction.gasLimit)
  transaction.v = BigInt(random.below(2))
  if (type === 0) {
    transaction.chainId = random.below(2) === 0 ? undefined : BigInt(random.below(100_000))
    transaction.v += transaction.chainId === undefined ? 27n : transaction.chainId * 2n + 35n
  }
  transaction.r = scalar()
  transaction.s = scalar()
  transaction.hash = transactionHash(transaction)
  return transaction
}

function wireReceipt(random: SeededRandom, transaction: Transaction): ConsensusReceipt {
  const { type, status, root, cumulativeGasUsed, logsBloom, logs } = randomReceipt(random, transaction)
  return {
    type: type as TransactionType,
    status,
    root,
    cumulativeGasUsed: BigInt.asUintN(64, cumulativeGasUsed),
    logsBloom,
    logs,
  }
}

function randomWithdrawal(random: SeededRandom) {
  const uint64 = () => BigInt.asUintN(64, randomUint(random))
  return { index: uint64(), validatorIndex: uint64(), address: random.bytes(20), amountGwei: uint64() }
}

function sorted(addresses: readonly Uint8Array[]): Uint8Array[] {
  return [...addresses].sort(Buffer.compare)
}

function trimmedHex(slot: Uint8Array): string {
  return Buffer.from(trimLeft(slot)).toString('hex')
}

function list<T>(random: SeededRandom, limit: number, make: () => T): T[] {
  return Array.from({ length: random.below(limit) }, make)
}
