import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBlock } from '../../src/chain/eth/block.js'
import type { Block, Log } from '../../src/chain/eth/types.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { WritableChain } from '../../src/sync/chainState.js'
import type { CairnServer } from '../../test/support/cairn.js'
import { createRandom } from '../../test/support/chains/logChain.js'
import { type ChainBuilder, createChainBuilder, type TransactionPlan } from '../../tools/fixture/chainBuilder.js'
import { encodeCall } from '../../tools/fixture/contracts.js'
import { AT, createTraders, createWorldGenesis, HOLDERS, holderAt } from '../evm/world.js'

/** Transactions of a full block: swaps of 4 logs each, transfers of a token of one: 250 logs. */
const SWAPS = 33
const TRANSFERS = 118

/** A block with its logs in order. */
export interface FullBlock {
  readonly block: Block
  readonly logs: readonly Log[]
}

/** A chain of full blocks: 151 transactions with 250 logs each. */
export interface FullChain {
  readonly genesis: string
  /** The chain up to the fork as a file of RLP blocks. */
  readonly path: string
  /** Of the database that holds the chain, and that is open for writing here. */
  readonly datadir: string
  readonly chain: WritableChain
  /** Number of the last block of the file. */
  readonly fork: number
  /** Two branches after it; the database holds the second. */
  readonly branches: readonly (readonly FullBlock[])[]
  /** Adds a block. */
  grow(): Promise<Block>
  close(): void
}

/** The chain, and a server of it in another process. */
export interface ServedChain {
  readonly chain: FullChain
  readonly upstream: CairnServer
}

/** Makes one of `blocks` blocks, and two branches of `depth` blocks after it. A block takes about 40 ms. */
export async function makeFullChain(
  directory: string,
  { blocks, depth }: { blocks: number; depth: number },
): Promise<FullChain> {
  const datadir = join(directory, 'node')
  mkdirSync(datadir, { recursive: true })
  const files = { path: join(directory, 'chain.rlp'), genesis: join(directory, 'genesis.json') }
  const genesis = createWorldGenesis({ contracts: true, slots: 0 })
  writeFileSync(files.genesis, JSON.stringify(genesis))
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  const { head } = builder.chain
  head.finalize({ safe: 0, finalized: 0 })
  const random = createRandom(14)
  const traders = createTraders()
  const add = () => addFullBlock(builder, random, traders)
  const encoded: Uint8Array[] = []
  for (let number = 1; number <= blocks; number++) {
    encoded.push(encodeBlock((await add()).block))
    progress(number, blocks + 2 * depth)
  }
  writeFileSync(files.path, Buffer.concat(encoded))
  const nonces = traders.map(({ nonce }) => nonce)
  const branches: FullBlock[][] = []
  for (const i of [0, 1]) {
    builder.rewind(blocks)
    for (const [at, trader] of traders.entries()) trader.nonce = nonces[at]
    branches.push([])
    for (let n = 0; n < depth; n++) {
      branches[i].push(await add())
      progress(blocks + i * depth + n + 1, blocks + 2 * depth)
    }
  }
  while (head.workOnIndexes(100));
  process.stderr.write('\n')
  return {
    ...files,
    datadir,
    chain: builder.chain,
    fork: blocks,
    branches,
    grow: async () => (await add()).block,
    close: () => db.close(),
  }
}

function progress(done: number, total: number): void {
  if (done % 20 === 0 || done === total) process.stderr.write(`\rmaking full blocks: ${done} of ${total}`)
}

async function addFullBlock(
  builder: ChainBuilder,
  random: () => number,
  traders: ReturnType<typeof createTraders>,
): Promise<FullBlock> {
  const below = (limit: number) => Math.floor(random() * limit)
  const transactions = Array.from({ length: SWAPS + TRANSFERS }, (_, i): TransactionPlan => {
    const sender = traders[below(TRADERS_USED)]
    const amount = BigInt(1 + below(1e9))
    if (i % 4 === 0 && i < 4 * SWAPS) {
      const input = encodeCall('swap(uint256,address)', amount * 10n ** 9n, sender.address)
      return { sender, type: 2, to: AT.pair, input, gasLimit: 90_000n }
    }
    const input = encodeCall('transfer(address,uint256)', holderAt(below(HOLDERS)), amount)
    return { sender, type: 2, to: random() < 0.5 ? AT.token0 : AT.token1, input, gasLimit: 40_000n }
  })
  const { block, receipts } = await builder.add({ transactions })
  builder.blocks.length = 0
  const logs = receipts.flatMap((receipt) => receipt.logs)
  if (logs.length !== 4 * SWAPS + TRANSFERS) throw new Error(`block ${block.header.number} has ${logs.length} logs`)
  return { block, logs }
}

const TRADERS_USED = 40
