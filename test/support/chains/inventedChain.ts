import { hashHeader } from '../../../src/chain/eth/header.js'
import type { Block, Log, Receipt } from '../../../src/chain/eth/types.js'
import type { Logger } from '../../../src/lib/logger.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import type { ChainHead } from '../../../src/sync/head/chainHead.js'
import { nameCoreContract } from '../../../src/sync/stateUpdates.js'
import type { SeededRandom } from '../random.js'
import { BRANCHES_GENESIS } from './branches.js'

/** An unverified block, with its receipts. */
export interface InventedBlock {
  block: Block
  receipts: Receipt[]
}

/** A writer of a chain of invented blocks, for tests of what happens to blocks and not in them. */
export interface InventedChain {
  readonly db: Database
  /** The canonical blocks, from block 0 on. */
  readonly blocks: readonly InventedBlock[]
  readonly head: ChainHead
  /** Removes the newest `removed` blocks and appends `added`, all in one transaction. */
  change(removed: number, added: number): void
  /** The first transaction of the next block has this hash. */
  nameNextTransaction(hash: Uint8Array): void
  close(): void
}

/** Addresses and topics that invented logs have: few, so that filters meet. */
export const ADDRESSES = Array.from({ length: 12 }, (_, i) => new Uint8Array(20).fill(0xa0 + i))
export const TOPICS = Array.from({ length: 12 }, (_, i) => new Uint8Array(32).fill(0x10 + i))

interface Invention {
  readonly random: SeededRandom
  readonly logsPerBlock: number
  /** Logs that the next block has besides its random ones. */
  readonly inventLogs?: () => Log[]
}

/** Opens an empty database for writing and stores block 0. No two blocks are equal. */
export async function openInventedChain(
  datadir: string,
  { coreContract, log, ...invention }: Invention & { coreContract?: Uint8Array; log?: Logger },
): Promise<InventedChain> {
  const db = openForWriting(datadir)
  if (coreContract) nameCoreContract(db, coreContract)
  const { head } = await openWritableChain(db, { genesis: BRANCHES_GENESIS }, 'none', { log })
  head.finalize({ safe: 0, finalized: 0 })
  const blocks: InventedBlock[] = []
  let nextHash: Uint8Array | undefined
  const append = () => {
    const made = inventBlock(blocks.length, blocks.at(-1)?.block.hash ?? new Uint8Array(32), invention)
    if (nextHash !== undefined) made.block.transactions[0].hash = nextHash
    nextHash = undefined
    head.append(made.block, { receipts: made.receipts, totalDifficulty: 0n })
    blocks.push(made)
  }
  append()
  head.commit()
  return {
    db,
    blocks,
    head,
    change(removed, added) {
      blocks.length -= removed
      if (removed > 0) head.rewind(blocks.length - 1, { byOperator: true })
      for (let i = 0; i < added; i++) append()
      head.commit()
    },
    nameNextTransaction: (hash) => {
      nextHash = hash
    },
    close: () => void db.close(),
  }
}

/** A random log of the invented chain. */
export function inventLog(random: SeededRandom): Log {
  const topics = Array.from({ length: random.below(5) }, () => TOPICS[random.below(TOPICS.length)])
  return { address: ADDRESSES[random.below(ADDRESSES.length)], topics, data: random.bytes(random.below(40)) }
}

function inventBlock(
  number: number,
  parentHash: Uint8Array,
  { random, logsPerBlock, inventLogs = () => [] }: Invention,
): InventedBlock {
  const empty = { bloom: new Uint8Array(256), root: new Uint8Array(32) }
  const header = {
    parentHash,
    ...{ unclesHash: empty.root, miner: new Uint8Array(20), stateRoot: empty.root, transactionsRoot: empty.root },
    ...{ receiptsRoot: empty.root, logsBloom: empty.bloom, difficulty: 0n, number, gasLimit: 30_000_000n },
    ...{ gasUsed: 21_000n, timestamp: BigInt(1_700_000_000 + number), extraData: random.bytes(8) },
    ...{ mixHash: empty.root, nonce: new Uint8Array(8), baseFeePerGas: 7n },
  }
  const transactions = [0, 1].map((nonce) => ({
    ...{ type: 2 as const, hash: random.bytes(32), from: random.bytes(20), chainId: 1n, nonce: BigInt(nonce) },
    ...{ gasLimit: 21_000n, maxPriorityFeePerGas: 1n, maxFeePerGas: 9n, to: ADDRESSES[0], value: 0n },
    ...{ input: new Uint8Array(0), accessList: [], v: 1n, r: 1n, s: 1n },
  }))
  const count = random.below(2 * logsPerBlock + 1)
  const receipts = [Math.floor(count / 2), Math.ceil(count / 2)].map((logCount, i) => ({
    ...{ type: 2 as const, status: 1 as const, cumulativeGasUsed: BigInt(i + 1), gasUsed: 1n, effectiveGasPrice: 8n },
    ...{ logsBloom: empty.bloom, logs: Array.from({ length: logCount }, () => inventLog(random)) },
  }))
  receipts[1].logs.push(...inventLogs())
  const block = { hash: hashHeader(header), header, transactions, uncles: [], sizeBytes: 600 }
  return { block, receipts }
}
