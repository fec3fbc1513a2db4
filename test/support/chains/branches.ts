import { keccak256 } from '../../../src/chain/crypto.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { LOG_STATE_UPDATE } from '../../../src/chain/starknet/stateUpdate.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { L2Writer } from '../../../src/store/l2/l2Writer.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { createChainIndexer } from '../../../src/sync/chainIndexer.js'
import { openWritableChain, type WritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { nameCoreContract } from '../../../src/sync/stateUpdates.js'
import { assemble, deployer } from '../../../tools/fixture/assembler.js'
import { createChainBuilder, createSender, type TransactionPlan } from '../../../tools/fixture/chainBuilder.js'
import { encodeWords } from '../../../tools/fixture/contracts.js'
import type { SeededRandom } from '../random.js'
import { sourceOf } from './fixture.js'
import { UNCHECKED } from './l2Blocks.js'
import { CORE_CONTRACT, encodeStateUpdate, L2_CHAIN } from './stateUpdateLogs.js'

/* Branches of a chain under Shanghai's rules, where contracts still destroy themselves and come back with empty
 * storage. */

/** Who sends the transactions of `randomPlan`. */
export const SENDERS = ['north', 'east', 'south'].map((name) => createSender(`branches ${name}`))
const address = (byte: number) => new Uint8Array(20).fill(byte)
/** A contract that logs three topics: `LOGGED`, a number below 20, a slot below 30. */
export const LOGGER = address(0x1a)
/** The event that it logs. */
export const LOGGED_EVENT = 'event Stored(uint256 indexed topic, uint256 indexed slot, uint256 zero)'
/** Topic 0 of all logs. */
export const LOGGED = keccak256(new TextEncoder().encode('Stored(uint256,uint256,uint256)'))
/** A contract that creates contracts from its call data. */
export const FACTORY = address(0xfa)
// Words: slot, value, topic. Sets the slot and logs it.
const LOGGER_CODE = assemble(`
  32 calldataload 0 calldataload sstore
  0 calldataload 64 calldataload ${formatData(LOGGED)} 32 0 log3 stop`)
const FACTORY_CODE = assemble('calldatasize 0 0 calldatacopy 0 calldatasize 0 0 create2 stop')
// Without call data it destroys itself, otherwise it sets a slot to a value.
const CHILD_CODE = assemble(`
  calldatasize @set jumpi caller selfdestruct
  :set 32 calldataload 0 calldataload sstore stop`)
// Sets ten slots when it is created.
const CHILD_INIT = concatBytes(
  assemble(Array.from({ length: 10 }, (_, slot) => `${slot + 7} ${slot} sstore`).join(' ')),
  deployerAfter(10 * 5, CHILD_CODE),
)
// Logs its call data as a state update.
const CORE_CODE = assemble(`calldatasize 0 0 calldatacopy ${formatData(LOG_STATE_UPDATE)} calldatasize 0 log1 stop`)
const CHILD = keccak256(concatBytes(Uint8Array.of(0xff), FACTORY, new Uint8Array(32), keccak256(CHILD_INIT))).slice(12)

/** Init code that stands after `offset` bytes of other code. */
function deployerAfter(offset: number, runtime: Uint8Array): Uint8Array {
  const code = deployer(runtime)
  code[6] += offset // of the runtime within the whole
  return code
}

/** The genesis of the branches in geth's format. */
export const BRANCHES_GENESIS = {
  config: {
    chainId: 20_265,
    ...Object.fromEntries(
      ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul', 'berlin']
        .concat('london', 'mergeNetsplit')
        .map((name) => [`${name}Block`, 0]),
    ),
    terminalTotalDifficulty: 0,
    shanghaiTime: 0,
  },
  ...{ nonce: '0x0', timestamp: '0x6774f780', extraData: '0x', gasLimit: '0x5f5e100', difficulty: '0x0' },
  ...{ mixHash: `0x${'00'.repeat(32)}`, coinbase: `0x${'00'.repeat(20)}`, baseFeePerGas: '0x7' },
  alloc: {
    ...Object.fromEntries(SENDERS.map((sender) => [formatData(sender.address), { balance: '0xd3c21bcecceda1000000' }])),
    [formatData(LOGGER)]: { balance: '0x0', code: formatData(LOGGER_CODE) },
    [formatData(FACTORY)]: { balance: '0x0', code: formatData(FACTORY_CODE) },
    [formatData(CORE_CONTRACT)]: { balance: '0x0', code: formatData(CORE_CODE) },
  },
}

/** The same before the merge: the difficulty falls by a twentieth with each block that comes late. */
export const WORK_GENESIS = (() => {
  const { shanghaiTime: _, ...config } = { ...BRANCHES_GENESIS.config, terminalTotalDifficulty: 2 ** 50 }
  return { ...BRANCHES_GENESIS, config, difficulty: '0x4000000' }
})()

// So that some blocks fill a chunk of logs.
const CHUNK_BITS = 6

/** Opens a database of such a chain; a new one gets small chunks, and the layer-2 blocks that the chain's state updates
 *  name. */
export async function openBranches(
  datadir: string,
  genesis: object = BRANCHES_GENESIS,
): Promise<{ db: Database; chain: WritableChain }> {
  const db = openForWriting(datadir)
  createChainIndexer(db, { chunkBits: CHUNK_BITS })
  nameCoreContract(db, CORE_CONTRACT)
  const l2 = new L2Writer(db)
  l2.transaction(() => {
    for (const block of L2_CHAIN) l2.importBlock(block, UNCHECKED)
  })
  return { db, chain: await openWritableChain(db, { genesis }, 'execute') }
}

/** The blocks of `trunk` in a new database, or after those that a database has, imported in one go. */
export async function importInOneGo(datadir: string, trunk: readonly Block[], genesis?: object): Promise<void> {
  const { db, chain } = await openBranches(datadir, genesis)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  db.close()
}

interface BranchPlan {
  trunk: readonly Block[]
  count: number
  random: SeededRandom
  genesis?: object
  /** Between two blocks; 10 by default. */
  afterSeconds?: number
  /** Layer-2 blocks whose state updates the blocks begin with, by index. */
  accepts?: readonly (L2Block | undefined)[]
}

/** Makes `count` random blocks on top of `trunk`, in an empty directory. No two calls make the same block. */
export async function growBranch(
  datadir: string,
  { trunk, count, random, genesis = BRANCHES_GENESIS, afterSeconds, accepts = [] }: BranchPlan,
): Promise<Block[]> {
  await importInOneGo(datadir, trunk, genesis)
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  const state = createStateReads(db)
  for (const sender of SENDERS) sender.nonce = state.nonce(sender.address, trunk.length)
  for (let i = 0; i < count; i++) {
    const accepted = accepts[i]
    const transactions = accepted ? [planStateUpdate(accepted.number!, accepted.hash!)] : []
    for (let left = random.below(5); left > 0; left--) transactions.push(randomPlan(random))
    await builder.add({ transactions, extraData: random.bytes(8), afterSeconds })
  }
  db.close()
  return builder.blocks
}

function planStateUpdate(number: number, hash: bigint): TransactionPlan {
  const input = encodeStateUpdate(number, hash)
  return { sender: SENDERS[0], type: 2, gasLimit: 600_000n, to: CORE_CONTRACT, input }
}

/** A transaction that transfers, creates, calls or destroys contracts, announces a layer-2 block, or (most of them)
 *  sets a slot of the logger and logs it. */
export function randomPlan(random: SeededRandom): TransactionPlan {
  const common = { sender: SENDERS[random.below(SENDERS.length)], type: 2, gasLimit: 600_000n } as const
  const words = (...limits: number[]) => encodeWords(...limits.map((limit) => BigInt(random.below(limit))))
  switch (random.below(8)) {
    case 0:
      return { ...common, to: address(1 + random.below(60)), value: BigInt(random.below(3)) }
    case 1:
      return { ...common, to: FACTORY, input: CHILD_INIT }
    case 2:
      return { ...common, to: CHILD, input: words(12, 3) }
    case 3:
      return { ...common, to: CHILD }
    case 4: {
      const { number, hash } = L2_CHAIN[random.below(L2_CHAIN.length)]
      return planStateUpdate(number!, random.below(4) === 0 ? 1n : hash!)
    }
    default:
      return { ...common, to: LOGGER, input: words(30, 4, 20) }
  }
}
