import { BLOOM_BYTES } from '../chain/eth/bloom.js'
import { type ChainSpec, type Rules, rulesAt } from '../chain/eth/forks/rules.js'
import type { Block, Header } from '../chain/eth/types.js'
import { InvalidTransaction } from '../evm/errors.js'
import { createForkTables } from '../evm/interpreter/allPrecompiles.js'
import { createCodeObjects } from '../evm/interpreter/code.js'
import type { ForkTables } from '../evm/interpreter/forkTables.js'
import { Journal } from '../evm/interpreter/journal/journal.js'
import { Machine } from '../evm/interpreter/machine.js'
import { loadKzgVerifier } from '../evm/interpreter/precompiles/kzg.js'
import { runBlock } from '../evm/transition/block.js'
import { callAtParent } from '../evm/transition/parentCall.js'
import { blockEnvironment } from '../evm/transition/transaction.js'
import { noDeadline } from '../lib/deadline.js'
import { UsageError } from '../lib/errors.js'
import type { FetchedState } from './fetchedState.js'

const CODE_BYTES = 32 * 2 ** 20
const NO_BLOOM = new Uint8Array(BLOOM_BYTES)
const ZERO_HASH = new Uint8Array(32)

interface ExecutionParts {
  readonly spec: ChainSpec
  readonly state: FetchedState
  /** Total difficulty before the first block. */
  readonly totalDifficulty: bigint
  /** Returns the hash of a recorded block, or of the one before them; undefined for earlier ones. */
  blockHash(number: number): Uint8Array | undefined
}

/** Executes blocks one after the other, to find the state that they read. Compares nothing with their headers.
 *  @returns a function that executes the next block, and throws InvalidTransaction, SystemCallFailed; UsageError for a
 *  block that reads the hash of one before the recording */
export async function createBlockExecution(parts: ExecutionParts): Promise<(block: Block) => Promise<void>> {
  const { spec, state } = parts
  const journal = new Journal(
    state,
    createCodeObjects((hash) => state.code(hash), CODE_BYTES),
  )
  const tables = createForkTables(await loadKzgVerifier())
  let { totalDifficulty } = parts
  let parent: Header | undefined
  return async ({ header, ...rest }) => {
    const block = { header, ...rest }
    const rules = rulesAt(spec, header.number, header.timestamp, totalDifficulty)
    seed(state, block)
    for (;;) {
      const { unknownHash, error } = attempt(block, { ...parts, journal, rules, tables, parent })
      if (!state.isIncomplete) {
        if (unknownHash !== undefined) throw new HashBeforeRecording(header.number, unknownHash)
        if (error !== undefined) throw error
        break
      }
      // Without the missing state, execution may have taken any path.
      journal.clear()
      await state.load()
    }
    state.apply(journal.takeChanges())
    journal.takeTouched()
    totalDifficulty += header.difficulty
    parent = header
  }
}

/** A recorded block reads the hash of a block that is not recorded. */
class HashBeforeRecording extends UsageError {
  constructor(blockNumber: number, read: number) {
    super(`block ${blockNumber} reads the hash of block ${read}, which is not recorded; record from ${read + 1} on`)
  }
}

interface AttemptParts extends ExecutionParts {
  readonly journal: Journal
  readonly rules: Rules
  /** Undefined for the first block. */
  readonly parent: Header | undefined
  tables(rules: Rules): ForkTables
}

/** Reads a block's own accounts, so that its transactions are not refused at once. */
function seed(state: FetchedState, { header, transactions, withdrawals = [] }: Block): void {
  state.account(header.miner)
  for (const { from, to, accessList = [] } of transactions) {
    state.account(from)
    if (to) state.account(to)
    for (const { address } of accessList) state.account(address)
  }
  for (const { address } of withdrawals) state.account(address)
}

function attempt(block: Block, parts: AttemptParts): { unknownHash?: number; error?: unknown } {
  const { spec, journal, rules, parent } = parts
  const tables = parts.tables(rules)
  let unknownHash: number | undefined
  const blockHash = (number: number) => {
    const hash = parts.blockHash(number)
    if (hash === undefined) unknownHash = number
    return hash ?? ZERO_HASH
  }
  const environment = blockEnvironment(block.header, rules, { chainId: spec.chainId, blockHash })
  const machine = new Machine({ ...tables, environment, state: journal, deadline: noDeadline })
  const refuse = (index: number, { hash }: { hash: Uint8Array }, refused: { rule: string; detail: string }) =>
    new InvalidTransaction(index, hash, refused.rule, refused.detail)
  const roots = { now: () => block.header.stateRoot, atEnd: () => undefined }
  const context = { spec, machine, journal, blockHash, bloomOf: () => NO_BLOOM, roots, refuse }
  try {
    if (parent) callAtParent(context, { header: block.header, parent, tables: parts.tables })
    runBlock(context, block, { rules, tables })
    return { unknownHash }
  } catch (error) {
    return { unknownHash, error }
  }
}
