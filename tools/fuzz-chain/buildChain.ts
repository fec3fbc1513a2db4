import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { nextBaseFee } from '../../src/chain/eth/fees.js'
import { type Rules, rulesAt } from '../../src/chain/eth/forks/rules.js'
import type { Withdrawal } from '../../src/chain/eth/types.js'
import { InvalidTransaction } from '../../src/evm/errors.js'
import { formatData } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStateReads, type StateReads } from '../../src/store/state/stateReader.js'
import { type SeededRandom, seededRandom } from '../../test/support/random.js'
import { type BlockPlan, type ChainBuilder, createChainBuilder, type TransactionPlan } from '../fixture/chainBuilder.js'
import { CHAIN_ID } from '../fixture/genesis.js'
import { type Cast, precompile, randomCast } from './cast.js'
import { type LastFork, randomSchedule } from './schedule.js'
import { createTransactions } from './transactions.js'

/** A chain of a seed: the same bytes every time. */
export interface RandomChain {
  /** In geth's format. */
  genesis: string
  /** Blocks from 1 on, one RLP list after another. */
  chainRlp: Uint8Array
  cast: Cast
  /** Number of the last block. */
  head: number
  transactions: number
}

/** Most transactions of a block. */
const MOST_TRANSACTIONS = 7
/** Gas that the transactions of a block may ask for. */
const BLOCK_GAS = 28_000_000n

/** Builds the chain of a seed, through all forks to the last one, in a temporary database. */
export async function buildRandomChain(seed: number, last: LastFork = 'amsterdam'): Promise<RandomChain> {
  const growing = await growRandomChain(seed, { last })
  try {
    await growing.add()
    const { genesis, cast, head, transactions } = growing
    return { genesis, cast, head, transactions, chainRlp: growing.encode() }
  } finally {
    growing.close()
  }
}

/** A random chain that grows block by block, and can be rewound: the same bytes every time for the same calls. */
export interface GrowingChain {
  /** Directory of the database. */
  readonly datadir: string
  /** In geth's format. */
  readonly genesis: string
  readonly cast: Cast
  /** Number of the newest block. */
  readonly head: number
  /** Number of the last block that the schedule has. */
  readonly last: number
  /** Transactions of the chain. */
  readonly transactions: number
  /** Adds `count` blocks, all that are left by default. @returns them, one RLP list after another */
  add(count?: number): Promise<Uint8Array>
  /** Removes the newest `count` blocks: those that are added next are others. */
  rewind(count: number): void
  /** Hash of a block from 1 on, as DATA. */
  hash(blockNumber: number): string
  /** Blocks from 1 on, one RLP list after another. */
  encode(): Uint8Array
  /** Removes the temporary database. */
  close(): void
}

/** Begins the chain of a seed at its genesis, in a temporary database: `tail` blocks come after the last fork, and a
 *  block has at most `most` transactions. */
export async function growRandomChain(
  seed: number,
  { last = 'amsterdam', tail, most = MOST_TRANSACTIONS }: { last?: LastFork; tail?: number; most?: number } = {},
): Promise<GrowingChain> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-random-chain-'))
  const db = openForWriting(directory)
  const close = () => {
    db.close()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const random = seededRandom(seed)
    const { config, genesisTime, gaps } = randomSchedule(random, last, tail)
    const cast = randomCast(random)
    const genesis = {
      config: { chainId: Number(CHAIN_ID), ...config, ethash: {} },
      ...{ nonce: '0x0', timestamp: `0x${genesisTime.toString(16)}`, extraData: formatData(random.bytes(4)) },
      ...{ gasLimit: '0x1c9c380', difficulty: '0x20000', mixHash: `0x${'00'.repeat(32)}` },
      coinbase: `0x${'00'.repeat(20)}`,
      alloc: cast.alloc,
    }
    const builder = await createChainBuilder(db, genesis)
    const { blocks } = builder
    const maker = createBlocks(random, { builder, cast, most, state: createStateReads(db) })
    return {
      datadir: directory,
      genesis: `${JSON.stringify(genesis, null, 2)}\n`,
      cast,
      get head() {
        return blocks.length
      },
      last: gaps.length,
      get transactions() {
        return blocks.reduce((sum, block) => sum + block.transactions.length, 0)
      },
      add: async (count = gaps.length - blocks.length) => {
        const from = blocks.length
        for (let i = 0; i < count; i++) await maker.add(gaps[blocks.length])
        return new Uint8Array(Buffer.concat(blocks.slice(from).map(encodeBlock)))
      },
      rewind: (count) => builder.rewind(blocks.length - count),
      hash: (blockNumber) => formatData(blocks[blockNumber - 1].hash),
      encode: builder.encode,
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

interface BlockParts {
  builder: ChainBuilder
  cast: Cast
  /** Transactions of a block. */
  most: number
  state: StateReads
}

function createBlocks(random: SeededRandom, { builder, cast, most, state }: BlockParts) {
  const { head, spec } = builder.chain
  let withdrawalIndex = 0n
  const nonceOf = (address: Uint8Array) => state.nonce(address, head.newest!.header.number)

  const transactionsOf = (rules: Rules): TransactionPlan[] => {
    const parent = head.newest!.header
    const baseFee = !rules.has('london') ? 0n : nextBaseFee(parent)
    const make = createTransactions(random, { cast, rules, baseFee, nonceOf })
    const plans: TransactionPlan[] = []
    let gas = 0n
    let blobs = 0
    for (let i = random.below(most + 1); i > 0; i--) {
      const plan = make()
      const more = plan.blobVersionedHashes?.length ?? 0
      if (gas + plan.gasLimit! > BLOCK_GAS || blobs + more > (rules.blobs?.max ?? 0)) continue
      plans.push(plan)
      gas += plan.gasLimit!
      blobs += more
    }
    return plans
  }
  const withdrawals = (): Withdrawal[] =>
    Array.from({ length: random.below(4) }, () => ({
      index: withdrawalIndex++,
      validatorIndex: BigInt(random.below(1000)),
      address: random.below(5) === 0 ? random.bytes(20) : cast.known[random.below(cast.known.length)],
      amountGwei: BigInt([0, 1, random.below(10_000_000)][random.below(3)]),
    }))
  const miner = () => {
    const kind = random.below(6)
    return kind < 3 ? undefined : kind === 3 ? precompile(random.below(4)) : cast.known[random.below(cast.known.length)]
  }

  /** Adds the block without the transactions that cannot be executed. */
  const addValid = async (plan: BlockPlan & { transactions: TransactionPlan[] }): Promise<void> => {
    for (;;) {
      for (const { sender } of plan.transactions) sender.nonce = nonceOf(sender.address)
      try {
        await builder.add(plan)
        return
      } catch (error) {
        if (!(error instanceof InvalidTransaction)) throw error
        plan.transactions.splice(error.index, 1)
      }
    }
  }

  const add = async (gap: number): Promise<void> => {
    const { header, totalDifficulty } = head.newest!
    const number = header.number + 1
    const rules = rulesAt(spec, number, header.timestamp + BigInt(gap), totalDifficulty)
    const hasUncle = !rules.isProofOfStake && number > 2 && random.below(5) === 0
    await addValid({
      transactions: transactionsOf(rules),
      uncles: hasUncle ? [builder.sibling(cast.known[random.below(cast.known.length)])] : [],
      withdrawals: withdrawals(),
      extraData: random.bytes(random.below(33)),
      miner: miner(),
      afterSeconds: gap,
    })
  }
  return { add }
}
