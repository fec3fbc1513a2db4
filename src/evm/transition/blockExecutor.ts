import type { ChainSpec, Rules } from '../../chain/eth/forks.js'
import type { Genesis } from '../../chain/eth/genesis.js'
import type { Block } from '../../chain/eth/types.js'
import type { StateChanges } from '../../store/chain/chainWriter.js'
import type { StateReader } from '../../store/state/stateReader.js'
import type { StateRoot } from '../../trie/stateRoot.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import type { NewestState } from '../state/stateProvider.js'
import type { BlockOutcome, StateRootHasher } from './blockOutcome.js'

/** What execution says of a block, to be compared with its header. */
export type ExecutedBlock = BlockOutcome

/** Executes blocks one after another on the newest state of a database. */
export interface Executor {
  /** Lays the genesis state and gives its root. */
  layGenesis(genesis: Genesis): Promise<Uint8Array>
  /** Executes a block on top of what was accepted last; nothing is stored. The state root is computed unless `hashState` is
   *  false, and in any case for a block whose receipts hold roots.
   *  @throws InvalidTransaction, SystemCallFailed; then `discard` is due. */
  execute(block: Block, rules: Rules, hashState?: boolean): Promise<ExecutedBlock>
  /** The changes of the block that was executed last, which must be stored before the next. */
  accept(): StateChanges
  /** The state root after the blocks that were accepted: 32 bytes. */
  stateRoot(): Uint8Array
  /** What was accepted stays when `discard` is called. Each accepted block whose state was hashed is settled, too. */
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

/** What an executor works with. */
export interface ExecutorParts {
  spec: ChainSpec
  /** Sees the newest state. */
  reader: StateReader
  root: StateRoot
  /** Serves BLOCKHASH. */
  blockHashes: BlockHashes
  /** Memory for accounts, slots and code that were read: about so much. */
  cacheBytes: number
}

/** An interpreter over a state in memory, as an executor uses it. */
export interface BlockEngine {
  /** Sets the accounts of a genesis. */
  putGenesis(genesis: Genesis): Promise<void> | void
  /** Executes a block; its changes stay in memory. */
  run(block: Block, rules: Rules, roots: StateRootHasher): Promise<BlockOutcome>
  /** Accounts changed since the last call. */
  takeTouched(): TouchedAccount[]
  /** What differs from the stored state since the last call. */
  takeChanges(): StateChanges
  /** Gives up what lies in memory. */
  forget(): void
}

/** An executor by the engine, which lies over `backing`. */
export function createExecutorOver(engine: BlockEngine, backing: NewestState, root: StateRoot): Executor {
  let hashes = true
  const rootNow = () => root.update(engine.takeTouched())
  const forget = () => {
    engine.forget()
    backing.forget()
  }
  return {
    layGenesis: async (genesis) => {
      hashes = true
      await engine.putGenesis(genesis)
      return rootNow()
    },
    execute: (block, rules, hashState = true) => {
      hashes = hashState || !rules.has('byzantium')
      const atEnd = () => {
        if (hashes) return rootNow()
        root.note(engine.takeTouched())
        return undefined
      }
      return engine.run(block, rules, { now: rootNow, atEnd })
    },
    accept: () => {
      if (hashes) root.settle()
      const changes = engine.takeChanges()
      backing.wrote(changes)
      return changes
    },
    stateRoot: () => root.root(),
    settle: () => root.settle(),
    discard: () => {
      forget()
      root.discard()
    },
    reset: () => {
      forget()
      root.reset()
    },
    get unhashed() {
      return root.pending
    },
    get accounts() {
      return root.accounts
    },
  }
}

/** The hash of a block that is asked for. @throws Error when it is not held. */
export function requireHash(blockHashes: BlockHashes, number: number): Uint8Array {
  const hash = blockHashes(number)
  if (!hash) throw new Error(`block ${number} is not held, and BLOCKHASH asks for it`)
  return hash
}
