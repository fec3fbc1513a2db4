import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block, Header } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { type BlockPlan, createChainBuilder, type TransactionPlan } from '../../../tools/fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { BRANCHES_GENESIS, randomPlan, SENDERS } from '../chains/branches.js'
import type { SeededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { hasNoRequests, payloadOf, type SentPayload } from './payloads.js'

type After = { after(callback: () => void | Promise<void>): void }

const SECONDS = 10
const GENESIS_TIME = Number(BRANCHES_GENESIS.timestamp)

/** Number of the first block of each fork, Paris before them; Infinity: never. */
export interface ForkNumbers {
  readonly shanghai: number
  readonly cancun: number
  readonly prague: number
  readonly osaka: number
  readonly amsterdam: number
}

/** A genesis under proof of stake, with the forks at these blocks, which are 10 s apart. */
export function stakedGenesis(forks: ForkNumbers): object {
  const { shanghaiTime: _, ...config } = BRANCHES_GENESIS.config
  const times = Object.entries(forks)
    .filter(([, number]) => Number.isFinite(number))
    .map(([fork, number]) => [`${fork}Time`, GENESIS_TIME + SECONDS * number])
  const schedule = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 }
  return {
    ...BRANCHES_GENESIS,
    config: {
      ...config,
      ...Object.fromEntries(times),
      blobSchedule: Object.fromEntries(['cancun', 'prague', 'osaka', 'amsterdam'].map((fork) => [fork, schedule])),
      depositContractAddress: '0x00000000219ab540356cbb839cbe05303d7705fa',
    },
    alloc: { ...BRANCHES_GENESIS.alloc, ...SYSTEM_ACCOUNTS },
  }
}

/** A block and its payload. */
export interface BuiltPayload {
  readonly payload: SentPayload
  readonly block: Block
  /** RLP. */
  readonly blockAccessList: Uint8Array | undefined
  readonly parent: Header
}

/** Makes blocks for a consensus client to send: one on top of another, and branches. */
export interface PayloadChain {
  /** A file with the genesis. */
  readonly genesis: string
  /** Number of the newest block. */
  readonly head: number
  /** Hash of block 0. */
  readonly genesisHash: string
  /** Builds the next block, with random transactions; `parentBeaconBlockRoot`: from Cancun on. */
  add(fields?: Pick<BlockPlan, 'parentBeaconBlockRoot'>): Promise<BuiltPayload>
  /** Builds the next block from these transactions. */
  addWith(transactions: readonly TransactionPlan[]): Promise<BuiltPayload>
  /** Removes the blocks above `number`: those that are added next are others. */
  rewind(number: number): void
}

/** Begins a chain at its genesis, in a temporary database. No two blocks of it are the same. */
export async function createPayloadChain(
  t: After,
  { random, forks, gasLimit }: { random: SeededRandom; forks: ForkNumbers; gasLimit?: number },
): Promise<PayloadChain> {
  const directory = temporaryDirectory(t)
  const genesisFile = join(directory, 'genesis.json')
  const genesis = { ...stakedGenesis(forks), ...(gasLimit && { gasLimit: `0x${gasLimit.toString(16)}` }) }
  writeFileSync(genesisFile, JSON.stringify(genesis))
  const db = openForWriting(join(directory, 'db'))
  t.after(() => void db.close())
  const builder = await createChainBuilder(db, genesis)
  const state = createStateReads(db)
  const head = () => builder.chain.head.newest!.header.number
  const addWith = async (
    transactions: readonly TransactionPlan[],
    fields: Pick<BlockPlan, 'parentBeaconBlockRoot'> = {},
  ) => {
    for (const sender of SENDERS) sender.nonce = state.nonce(sender.address, head())
    const plan = { transactions: [...transactions], extraData: random.bytes(8), afterSeconds: SECONDS, ...fields }
    const parent = builder.chain.head.newest!.header
    const { block, blockAccessList } = await builder.add(plan)
    if (!hasNoRequests(block)) throw new Error(`block ${head()} has requests`)
    return { payload: payloadOf(block, blockAccessList), block, blockAccessList, parent }
  }
  return {
    genesis: genesisFile,
    get head() {
      return head()
    },
    genesisHash: formatData(builder.chain.reader.blockHash(0)!),
    addWith,
    add: async (fields) => {
      const transactions = Array.from({ length: random.below(5) }, () => randomPlan(random))
      return addWith(transactions, fields)
    },
    rewind: (number) => builder.rewind(number),
  }
}
