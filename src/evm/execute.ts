import type { ChainSpec, Rules } from '../chain/eth/forks.js'
import type { Genesis } from '../chain/eth/genesis.js'
import type { Block, Transaction } from '../chain/eth/types.js'
import { noDeadline } from '../lib/deadline.js'
import type { StateChanges } from '../store/chainWriter.js'
import { LATEST, type StateReader } from '../store/stateReader.js'
import { type BlockOutcome, type BlockSite, runBlock } from './block.js'
import { InvalidTransaction } from './errors.js'
import { createCodeObjects } from './interpreter/code.js'
import { createForkTables, type ForkTables } from './interpreter/forks.js'
import { Journal } from './interpreter/journal.js'
import { Machine } from './interpreter/machine.js'
import type { EvmKind } from './kinds.js'
import { loadKzgVerifier } from './kzg.js'
import { createCodeCache, createStateBacking } from './stateBacking.js'
import { createStateRoot, type StateRoot } from './stateRoot.js'
import { blockEnvironment, type TransactionRefused } from './transaction.js'

/** What execution says of a block, to be compared with its header. */
export type ExecutedBlock = BlockOutcome

/** Executes blocks one after another on the newest state of a database. */
export interface Executor {
  /** Lays the genesis state and gives its root. */
  layGenesis(genesis: Genesis): Promise<Uint8Array>
  /** Executes a block on top of what was accepted last; nothing is stored.
   *  @throws InvalidTransaction, SystemCallFailed; then `discard` is due. */
  execute(block: Block, rules: Rules): Promise<ExecutedBlock>
  /** The changes of the block that was executed last, which must be stored before the next. */
  accept(): StateChanges
  /** Gives up the block that was executed last. */
  discard(): void
}

/** Hash of the canonical block `number`: 32 bytes; undefined when it is not held. */
export type BlockHashes = (number: number) => Uint8Array | undefined

/** What an executor works with: the chain, the state that `reader` sees, and what BLOCKHASH is answered from. */
export interface ExecutorParts {
  spec: ChainSpec
  reader: StateReader
  blockHashes: BlockHashes
}

/** An executor of that kind over the newest state. The other kind is not loaded. */
export async function loadExecutor(kind: EvmKind, { spec, reader, blockHashes }: ExecutorParts): Promise<Executor> {
  if (kind === 'cairn') return createExecutor({ spec, reader, blockHashes })
  const { createReferenceExecutor } = await import('./reference/execute.js')
  return createReferenceExecutor(spec, reader, blockHashes)
}

// Code objects kept between blocks: some thousand contracts.
const CODE_BYTES = 64 * 1024 * 1024

function createExecutor({ spec, reader, blockHashes }: ExecutorParts): Executor {
  const backing = createStateBacking(reader, LATEST, createCodeCache(reader))
  const journal = new Journal(
    backing,
    createCodeObjects((hash) => reader.codeByHash(hash), CODE_BYTES),
  )
  let root: StateRoot | undefined
  const rootOf = () => {
    root ??= createStateRoot(reader)
    return root.update(journal.takeTouched())
  }
  const site = {
    spec,
    journal,
    rootOf,
    blockHash: (number: number) => requireHash(blockHashes, number),
    refuse: (index: number, { hash }: Transaction, { rule, detail }: TransactionRefused) =>
      new InvalidTransaction(index, hash, rule, detail),
  } satisfies Omit<BlockSite, 'machine'>
  let tables: ((rules: Rules) => ForkTables) | undefined
  let machine: Machine | undefined
  return {
    layGenesis: async ({ accounts }) => {
      for (const account of accounts) journal.putAccount(account.address, account)
      journal.endTransaction(false)
      return rootOf()
    },
    execute: async (block, rules) => {
      tables ??= createForkTables(await loadKzgVerifier())
      const own = tables(rules)
      if (machine === undefined) {
        const { blockHash } = site
        const environment = blockEnvironment(block.header, rules, { chainId: spec.chainId, blockHash })
        machine = new Machine({ ...own, environment, state: journal, deadline: noDeadline })
      }
      return runBlock({ ...site, machine }, block, { rules, tables: own })
    },
    accept: () => {
      root?.trim()
      return journal.takeChanges()
    },
    discard: () => {
      journal.forget()
      root = undefined // it may hold parts of the block
    },
  }
}

/** The hash of a block that is asked for. @throws Error when it is not held. */
export function requireHash(blockHashes: BlockHashes, number: number): Uint8Array {
  const hash = blockHashes(number)
  if (!hash) throw new Error(`block ${number} is not held, and BLOCKHASH asks for it`)
  return hash
}
