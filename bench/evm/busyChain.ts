import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatData } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createRandom } from '../../test/support/chains/logChain.js'
import { createChainBuilder, type Sender, type TransactionPlan } from '../../tools/fixture/chainBuilder.js'
import { encodeCall } from '../../tools/fixture/contracts.js'
import type { MergedFork } from '../../tools/fixture/mergedGenesis.js'
import type { ChainFile } from './plans.js'
import { AT, createTraders, createWorldGenesis, HOLDERS, holderAt, SLOTS } from './world.js'

/** Chains of full blocks: contract calls of all kinds, and nothing but transfers of ether. */
export const BUSY_KINDS = ['contract calls', 'ether transfers'] as const
export type BusyKind = (typeof BUSY_KINDS)[number]

/** How a chain of full blocks is made. */
export interface BusyChainPlan {
  blocks: number
  /** Million gas of a block (default: 30). */
  mgas?: number
  /** Slots of the contract that sums them (default: all). */
  slots?: number
  /** Where its folder is made. */
  directory: string
}

/** Gas of a full block, in millions. */
const FULL_MGAS = 30

/** Makes a chain of blocks of `mgas` million gas (default: full ones) through the store's own writer, and its file.
 *  Blocks of Osaka and Amsterdam have the same transactions as each other, with twice the gas limit: prices differ.
 *  @returns the file and the data directory, whose head has the state that all blocks left. */
export async function makeBusyChain(
  kind: BusyKind,
  { blocks, mgas = FULL_MGAS, slots, directory, fork = 'cancun' }: BusyChainPlan & { fork?: MergedFork },
): Promise<{ chain: ChainFile; datadir: string }> {
  const folder = join(directory, `${kind.replace(' ', '-')}-${fork}`)
  mkdirSync(folder, { recursive: true })
  const chain = { path: join(folder, 'chain.rlp'), genesis: join(folder, 'genesis.json') }
  const genesis = createWorldGenesis({ contracts: kind === 'contract calls', fork, slots })
  const db = openForWriting(folder)
  try {
    const builder = await createChainBuilder(db, genesis)
    const random = createRandom(1)
    const traders = createTraders()
    const nextTransaction = kind === 'contract calls' ? planCall : planTransfer
    for (let number = 1; number <= blocks; number++) {
      const filled = fillBlock(BigInt(mgas) * 1_000_000n, () => nextTransaction(random, traders))
      const { least } = filled
      const transactions = fork === 'cancun' ? filled.transactions : filled.transactions.map(withTwiceTheGas)
      const { block, receipts } = await builder.add({ transactions })
      const failed = receipts.findIndex(({ status }) => status !== 1)
      if (failed >= 0)
        throw new Error(`${kind}: transaction ${failed} to ${formatData(transactions[failed].to!)} failed`)
      if (fork === 'cancun' && block.header.gasUsed < least)
        throw new Error(`${kind}: ${block.header.gasUsed} gas in block ${number}`)
    }
    writeFileSync(chain.path, builder.encode())
    writeFileSync(chain.genesis, JSON.stringify(genesis))
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  return { chain, datadir: folder }
}

function withTwiceTheGas(plan: TransactionPlan): TransactionPlan {
  return { ...plan, gasLimit: plan.gasLimit! * 2n }
}

/** Transactions until no more gas limits fit in `most`. */
function fillBlock(most: bigint, next: () => TransactionPlan): { transactions: TransactionPlan[]; least: bigint } {
  const transactions: TransactionPlan[] = []
  let gas = 0n
  for (;;) {
    const transaction = next()
    if (gas + transaction.gasLimit! > most) return { transactions, least: (gas * 17n) / 20n }
    transactions.push(transaction)
    gas += transaction.gasLimit!
  }
}

type Random = () => number

/** By gas about two fifths swaps, two fifths transfers of tokens, the rest loops of arithmetic, hashes and SLOADs. Gas
 *  limits lie little above what is used. */
function planCall(random: Random, traders: readonly Sender[]): TransactionPlan {
  const sender = traders[Math.floor(random() * traders.length)]
  const draw = random()
  if (draw < 0.33) {
    const amount = BigInt(1 + Math.floor(random() * 1e9)) * 10n ** 9n
    return {
      sender,
      to: AT.pair,
      input: encodeCall('swap(uint256,address)', amount, sender.address),
      gasLimit: 76_000n,
    }
  }
  if (draw < 0.97) {
    const [to, amount] = [random() < 0.5 ? AT.token0 : AT.token1, BigInt(1 + Math.floor(random() * 1e9))]
    const holder = holderAt(Math.floor(random() * HOLDERS))
    return { sender, to, input: encodeCall('transfer(address,uint256)', holder, amount), gasLimit: 35_000n }
  }
  const [rounds, seed] = [2_000n, BigInt(Math.floor(random() * 1e9))]
  if (draw < 0.98) return { sender, to: AT.arithmetic, input: runInput(rounds, seed), gasLimit: 262_000n }
  if (draw < 0.99) return { sender, to: AT.keccak, input: runInput(rounds, seed), gasLimit: 235_000n }
  const first = BigInt(Math.floor(random() * (SLOTS - 150)))
  return { sender, to: AT.sloads, input: runInput(first, 150n), gasLimit: 355_000n }
}

function runInput(first: bigint, second: bigint): Uint8Array {
  return encodeCall('run(uint256,uint256)', first, second)
}

function planTransfer(random: Random, traders: readonly Sender[]): TransactionPlan {
  const sender = traders[Math.floor(random() * traders.length)]
  const to = holderAt(Math.floor(random() * HOLDERS))
  return { sender, to, value: BigInt(1 + Math.floor(random() * 1e9)), gasLimit: 21_000n }
}
