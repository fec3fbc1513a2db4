import type { StateChanges } from '../store/chainWriter.js'
import type { StateReader } from '../store/stateReader.js'
import type { Executor } from './execute.js'
import { type CodeCache, createCodeCache, createNewestState, type NewestState } from './stateBacking.js'
import type { StateRoot } from './stateRoot.js'
import type { TouchedAccount } from './touched.js'

/** What blocks are executed on: changes in memory over the newest stored state. */
export interface ChangedState {
  takeTouched(): TouchedAccount[]
  takeChanges(): StateChanges
  forget(): void
}

/** What an executor's state is made of. */
export interface ExecutorStateParts {
  /** Sees the newest state. */
  reader: StateReader
  root: StateRoot
  /** Memory for accounts, slots and code that were read: about so much. */
  cacheBytes: number
}

/** The newest stored state under an executor, with its root. */
export interface ExecutorState {
  readonly backing: NewestState
  readonly codes: CodeCache
  /** Says whether the block that comes is to be hashed. */
  begin(hashState: boolean): void
  /** The root after what was changed so far: 32 bytes; undefined when the block is not to be hashed. */
  rootOf(changed: ChangedState): Uint8Array | undefined
  /** What every executor over such a state does between blocks. */
  betweenBlocks(changed: ChangedState): Omit<Executor, 'execute' | 'layGenesis'>
}

/** The state under an executor. */
export function createExecutorState({ reader, root, cacheBytes }: ExecutorStateParts): ExecutorState {
  const codes = createCodeCache(reader, cacheBytes / 4)
  const backing = createNewestState(reader, { codes, maxBytes: (cacheBytes * 3) / 4 })
  let hashes = true
  const betweenBlocks = (changed: ChangedState): Omit<Executor, 'execute' | 'layGenesis'> => {
    const forget = () => {
      changed.forget()
      backing.forget()
    }
    return {
      accept: () => {
        if (hashes) root.settle()
        const changes = changed.takeChanges()
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
  return {
    backing,
    codes,
    begin: (hashState) => {
      hashes = hashState
    },
    rootOf: (changed) => {
      root.note(changed.takeTouched())
      return hashes ? root.root() : undefined
    },
    betweenBlocks,
  }
}
