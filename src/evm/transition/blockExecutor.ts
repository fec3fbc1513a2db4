import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Genesis } from '../../chain/eth/genesis.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { padLeft } from '../../lib/bytes.js'
import type { StateChanges } from '../../store/rows/stateChanges.js'
import type { StateReader } from '../../store/state/stateReader.js'
import type { RestoredAccount } from '../../store/state/touchedAbove.js'
import { MissingTrieNode, MissingTrieNodes } from '../../trie/missingNodes.js'
import type { StateRoot } from '../../trie/stateRoot.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import type { NewestState } from '../state/stateProvider.js'
import type { BlockOutcome, StateRootHasher } from './blockOutcome.js'

/** Results of execution to compare with the header. */
export type ExecutedBlock = BlockOutcome

/** Executes consecutive blocks on the newest state of a database. */
export interface Executor {
  /** Writes the genesis state and returns its root. */
  initGenesis(genesis: Genesis): Promise<Uint8Array>
  /** Executes a block on top of the last accepted one; stores nothing. @throws InvalidTransaction, SystemCallFailed;
   *  then call `discard`. */
  execute(block: Block, rules: Rules, options?: ExecuteOptions): Promise<ExecutedBlock>
  /** The changes of the last executed block; the caller must store them before the next one. */
  accept(): StateChanges
  /** The state root after the accepted blocks: 32 bytes. */
  stateRoot(): Uint8Array
  /** Makes accepted blocks permanent: `discard` keeps them. `accept` also does this for a block whose state was
   *  hashed. */
  commit(): void
  /** Drops the last executed block and the accepted ones that are not permanent. With `isRetry`,
   *  where all accepted ones are permanent, what was read from the database stays in memory. */
  discard(isRetry?: boolean): void
  /** Unwinds after blocks were removed from the database. `accounts` are those that they had changed, as they are now.
   *  Returns the state root: 32 bytes. */
  revert(accounts: readonly RestoredAccount[]): Uint8Array
  /** Reloads from the database, after a rollback. */
  reset(): void
  /** Accounts and slots not hashed yet. */
  readonly unhashed: number
  /** Number of accounts in the last hashed state. */
  readonly accounts: number
}

/** Options of `Executor.execute`. */
export interface ExecuteOptions {
  /** Compute the state root; always done for a block whose receipts have roots. Default: true. */
  hashState?: boolean
  /** RLP (EIP-7928): a hint of what the block reads. */
  blockAccessList?: Uint8Array
  /** The header of the parent: the call of `FamilyExecution.parentCall` is made. Absent: it is not. */
  parent?: Header
}

/** Hash of canonical block `number`, 32 bytes; undefined if it is not stored. */
export type BlockHashes = (number: number) => Uint8Array | undefined

/** Dependencies of an executor. */
export interface ExecutorParts {
  spec: ChainSpec
  /** Reads the newest state. */
  reader: StateReader
  root: StateRoot
  /** Serves BLOCKHASH. */
  blockHashes: BlockHashes
  /** Approximate memory for cached accounts, slots and code. */
  cacheBytes: number
  /** Collects the addresses that calls of transactions reach: `BlockOutcome.callees`. */
  withCallees?: boolean
  /** Collects the calls of transactions: `BlockOutcome.traces`. */
  withTraces?: boolean
  /** Wraps the newest state, which blocks are executed on; its `code` is then the source of code. Only with Cairn's
   *  interpreter. */
  over?(newest: NewestState): NewestState
}

/** An interpreter over a state in memory, as used by an executor. */
export interface BlockEngine {
  /** Sets the accounts of a genesis. */
  putGenesis(genesis: Genesis): Promise<void> | void
  /** Executes a block; its changes stay in memory. For `parent` see `ExecuteOptions`. */
  run(block: Block, rules: Rules, roots: StateRootHasher, parent?: Header): Promise<BlockOutcome>
  /** Accounts changed since the last call. */
  takeTouched(): TouchedAccount[]
  /** Differences from the stored state since the last call. */
  takeChanges(): StateChanges
  /** Clears the state in memory. */
  clear(): void
}

/** Creates an executor with that engine, on top of `backing`. */
export function createExecutorOver(engine: BlockEngine, backing: NewestState, root: StateRoot): Executor {
  let hashes = true
  const rootNow = () => root.update(engine.takeTouched())
  const clear = () => {
    engine.clear()
    backing.clear()
  }
  return {
    initGenesis: async (genesis) => {
      hashes = true
      await engine.putGenesis(genesis)
      return rootNow()
    },
    execute: (block, rules, { hashState = true, parent } = {}) => {
      hashes = hashState || !rules.eip658
      const atEnd = () => {
        if (hashes) return rootNow()
        root.note(engine.takeTouched())
        return undefined
      }
      const roots = { now: rootNow, atEnd, storageRoot: (address: Uint8Array) => storageRootOf(root, address) }
      return engine.run(block, rules, roots, parent)
    },
    accept: () => {
      if (hashes) root.commit()
      const changes = engine.takeChanges()
      backing.wrote(changes)
      return changes
    },
    stateRoot: () => root.root(),
    commit: () => root.commit(),
    discard: (isRetry = false) => {
      if (isRetry) engine.clear()
      else clear()
      root.discard()
    },
    revert: (accounts) => {
      clear()
      const reverted = root.update(accounts.map(toTouched))
      root.commit()
      return reverted
    },
    reset: () => {
      clear()
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

/** The storage root of an account, 32 bytes, in the noted state. @throws MissingTrieNodes if a partial trie lacks a
 *  node on the path of the account */
function storageRootOf(root: StateRoot, address: Uint8Array): Uint8Array {
  const keys = [{ address, slots: [] }]
  root.learn(keys)
  try {
    return root.prove(address, []).storageRoot
  } catch (error) {
    if (error instanceof MissingTrieNode) throw new MissingTrieNodes({ before: keys, after: [] })
    throw error
  }
}

/** The account as a change of the state trie. */
export function toTouched({ address, account, cleared, slots }: RestoredAccount): TouchedAccount {
  const fields = account && { ...account, codeHash: account.codeHash ?? EMPTY_CODE_HASH }
  return {
    address,
    account: fields ?? null,
    cleared,
    slots: slots.map((each) => ({ ...each, slot: padLeft(each.slot, 32) })),
  }
}

/** The hash of an earlier block. @throws Error if it is not stored. */
export function requireHash(blockHashes: BlockHashes, number: number): Uint8Array {
  const hash = blockHashes(number)
  if (!hash) throw new Error(`block ${number} is not available, and BLOCKHASH asks for it`)
  return hash
}
