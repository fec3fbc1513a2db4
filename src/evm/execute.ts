import type { ChainSpec, Rules } from '../chain/eth/forks.js'
import type { Genesis } from '../chain/eth/genesis.js'
import type { Block, Transaction } from '../chain/eth/types.js'
import { noDeadline } from '../lib/deadline.js'
import type { StateChanges } from '../store/chainWriter.js'
import { type BlockOutcome, type BlockSite, runBlock } from './block.js'
import { InvalidTransaction } from './errors.js'
import { createExecutorState, type ExecutorStateParts } from './executorState.js'
import { createCodeObjects } from './interpreter/code.js'
import { createForkTables, type ForkTables } from './interpreter/forks.js'
import { Journal } from './interpreter/journal.js'
import { Machine } from './interpreter/machine.js'
import type { EvmKind } from './kinds.js'
import { loadKzgVerifier } from './kzg.js'
import { blockEnvironment, type TransactionRefused } from './transaction.js'

/** What execution says of a block, to be compared with its header. */
export type ExecutedBlock = BlockOutcome

/** Executes blocks one after another on the newest state of a database. */
export interface Executor {
  /** Lays the genesis state and gives its root. */
  layGenesis(genesis: Genesis): Promise<Uint8Array>
  /** Executes a block on top of what was accepted last; nothing is stored. The state is hashed unless `hashState` is false,
   *  and in any case for a block whose receipts hold roots.
   *  @throws InvalidTransaction, SystemCallFailed; then `discard` is due. */
  execute(block: Block, rules: Rules, hashState?: boolean): Promise<ExecutedBlock>
  /** The changes of the block that was executed last, which must be stored before the next. */
  accept(): StateChanges
  /** The state root after the blocks that were accepted: 32 bytes. */
  stateRoot(): Uint8Array
  /** What was accepted stays when `discard` is called. An accepted block that was hashed is settled by that. */
  settle(): void
  /** Gives up the block that was executed last, and accepted ones that are not settled. */
  discard(): void
  /** Goes on with what the database holds: after a rollback. */
  reset(): void
  /** Accounts and slots that are not hashed yet. */
  readonly unhashed: number
  /** Accounts in the state that was hashed last. */
  readonly accounts: number
}

/** Hash of the canonical block `number`: 32 bytes; undefined when it is not held. */
export type BlockHashes = (number: number) => Uint8Array | undefined

/** What an executor works with: the chain, the newest state, and what BLOCKHASH is answered from. */
export interface ExecutorParts extends ExecutorStateParts {
  spec: ChainSpec
  blockHashes: BlockHashes
}

/** An executor of that kind over the newest state. The other kind is not loaded. */
export async function loadExecutor(kind: EvmKind, parts: ExecutorParts): Promise<Executor> {
  if (kind === 'cairn') return createExecutor(parts)
  const { createReferenceExecutor } = await import('./reference/execute.js')
  return createReferenceExecutor(parts)
}

function createExecutor({ spec, blockHashes, ...parts }: ExecutorParts): Executor {
  const state = createExecutorState(parts)
  // Code objects take the place of the bytes that they are made of.
  const codes = createCodeObjects((hash) => parts.reader.codeByHash(hash), parts.cacheBytes / 4)
  const journal = new Journal(state.backing, codes)
  const site = {
    spec,
    journal,
    rootOf: () => state.rootOf(journal),
    blockHash: (number: number) => requireHash(blockHashes, number),
    refuse: (index: number, { hash }: Transaction, { rule, detail }: TransactionRefused) =>
      new InvalidTransaction(index, hash, rule, detail),
  } satisfies Omit<BlockSite, 'machine'>
  let tables: ((rules: Rules) => ForkTables) | undefined
  let machine: Machine | undefined
  const own = {
    layGenesis: async ({ accounts }: Genesis) => {
      state.begin(true)
      for (const account of accounts) journal.putAccount(account.address, account)
      journal.endTransaction(false)
      return state.rootOf(journal)!
    },
    execute: async (block: Block, rules: Rules, hashState = true) => {
      state.begin(hashState || !rules.has('byzantium'))
      tables ??= createForkTables(await loadKzgVerifier())
      const forFork = tables(rules)
      if (machine === undefined) {
        const { blockHash } = site
        const environment = blockEnvironment(block.header, rules, { chainId: spec.chainId, blockHash })
        machine = new Machine({ ...forFork, environment, state: journal, deadline: noDeadline })
      }
      return runBlock({ ...site, machine }, block, { rules, tables: forFork })
    },
  }
  return Object.assign(state.betweenBlocks(journal), own)
}

/** The hash of a block that is asked for. @throws Error when it is not held. */
export function requireHash(blockHashes: BlockHashes, number: number): Uint8Array {
  const hash = blockHashes(number)
  if (!hash) throw new Error(`block ${number} is not held, and BLOCKHASH asks for it`)
  return hash
}
