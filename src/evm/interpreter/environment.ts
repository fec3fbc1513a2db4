import { LIMBS, setBigInt, setBytes, setNumber, type Words } from './words/words.js'

/** What instructions can read of the block. */
export interface BlockEnvironment {
  number: number
  timestamp: bigint // Unix seconds, 64 bits
  coinbase: Uint8Array // 20
  gasLimit: bigint
  difficulty: bigint
  prevRandao: Uint8Array // 32; PREVRANDAO, instead of the difficulty, under proof of stake
  baseFeePerGas: bigint
  blobBaseFee: bigint
  slotNumber?: bigint // 64 bits, from Amsterdam on
  chainId: bigint
  /** Hash of one of the 256 blocks before this one: 32 bytes. @throws Error if it is not stored. */
  blockHash(number: number): Uint8Array
}

/** What instructions can read of the transaction. */
export interface TransactionEnvironment {
  origin: Uint8Array // 20
  gasPrice: bigint // effective gas price in wei
  blobVersionedHashes: readonly Uint8Array[]
}

/** Offsets of words in an environment. */
export const ORIGIN = 0 * LIMBS
export const GAS_PRICE = 1 * LIMBS
export const COINBASE = 2 * LIMBS
export const TIMESTAMP = 3 * LIMBS
export const NUMBER = 4 * LIMBS
export const DIFFICULTY = 5 * LIMBS
export const GAS_LIMIT = 6 * LIMBS
export const CHAIN_ID = 7 * LIMBS
export const BASE_FEE = 8 * LIMBS
export const BLOB_BASE_FEE = 9 * LIMBS
export const SLOT_NUMBER = 10 * LIMBS
const WORDS = 11

/** Block and transaction, with the words that instructions push precomputed. */
export interface Environment {
  readonly block: BlockEnvironment
  readonly transaction: TransactionEnvironment
  readonly words: Words
}

const NO_TRANSACTION: TransactionEnvironment = { origin: new Uint8Array(20), gasPrice: 0n, blobVersionedHashes: [] }

/** The environment of a block, before its first transaction. */
export function createEnvironment(block: BlockEnvironment, proofOfStake: boolean): Environment {
  const words = new Int32Array(WORDS * LIMBS)
  setBytes(words, COINBASE, block.coinbase, 0, 20)
  setBigInt(words, TIMESTAMP, block.timestamp)
  setNumber(words, NUMBER, block.number)
  if (proofOfStake) setBytes(words, DIFFICULTY, block.prevRandao, 0, 32)
  else setBigInt(words, DIFFICULTY, block.difficulty)
  setBigInt(words, GAS_LIMIT, block.gasLimit)
  setBigInt(words, CHAIN_ID, block.chainId)
  setBigInt(words, BASE_FEE, block.baseFeePerGas)
  setBigInt(words, BLOB_BASE_FEE, block.blobBaseFee)
  if (block.slotNumber !== undefined) setBigInt(words, SLOT_NUMBER, block.slotNumber)
  return { block, transaction: NO_TRANSACTION, words }
}

/** Returns the environment of another transaction of the same block. Reuses and overwrites the words of
 *  `environment`. */
export function replaceTransaction(environment: Environment, transaction: TransactionEnvironment): Environment {
  const { block, words } = environment
  setBytes(words, ORIGIN, transaction.origin, 0, 20)
  setBigInt(words, GAS_PRICE, transaction.gasPrice)
  return { block, transaction, words }
}

/** The same environment with a BLOBBASEFEE of 0. */
export function withFreeBlobs({ block, transaction, words }: Environment): Environment {
  return { block, transaction, words: words.slice().fill(0, BLOB_BASE_FEE, BLOB_BASE_FEE + LIMBS) }
}

/** The environment of a transaction in the block of `environment`. */
export function withTransaction(environment: Environment, transaction: TransactionEnvironment): Environment {
  const words = environment.words.slice()
  setBytes(words, ORIGIN, transaction.origin, 0, 20)
  setBigInt(words, GAS_PRICE, transaction.gasPrice)
  return { block: environment.block, transaction, words }
}
