import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { MissingCode, type SparseState, StateKeySet } from '../../evm/state/sparseState.js'
import type { ExecutedBlock, ExecuteOptions, Executor } from '../../evm/transition/blockExecutor.js'
import { CairnError } from '../../lib/errors.js'
import type { StateBlock } from '../../sources/ethRpc/stateTypes.js'
import type { BaseState, StateChanges } from '../../store/rows/stateChanges.js'
import type { RestoredAccount } from '../../store/state/touchedAbove.js'
import { addDeletionHints } from '../../trie/deletionHints.js'
import { MissingTrieNodes, type StateKeys } from '../../trie/missingNodes.js'
import { NodeSet } from '../../trie/nodeSet.js'
import type { StateRoot } from '../../trie/stateRoot.js'
import { addBlockKeys } from './blockKeys.js'
import type { FetchedBlockState, Lacking, StateFetch } from './stateSource.js'

/** The state that a block needs could not be completed. */
export class StateIncomplete extends CairnError {
  constructor(blockNumber: number, problem: string) {
    super(`the state that block ${blockNumber} needs could not be fetched: ${problem}`)
  }
}

export interface SparseExecutorParts {
  readonly spec: ChainSpec
  /** Executes over `state`, and hashes with `root`. */
  readonly executor: Executor
  readonly state: SparseState
  readonly root: StateRoot
  /** The nodes that `state` and `root` read. */
  readonly nodes: NodeSet
  parentOf(header: Header): StateBlock
  /** Intervals of states before that of the block. */
  closedStates(): number
  /** Begins to fetch the state of a block. @throws UsageError without a source */
  fetching(block: Block, parent: StateBlock): StateFetch
}

// Each attempt fetches what the previous one lacked: as many as reads depend on each other's results, and few in
// practice. The bound is for an upstream that never sends enough.
const MAX_ATTEMPTS = 1_000
const NOTHING: Lacking = { before: new StateKeySet(), after: new StateKeySet(), codes: [] }

/** Executes blocks on a state that is known in part. Fetches the rest: first what the block is known to need,
 *  then, after each attempt, what that one lacked. The state root is computed for every block. */
export class SparseExecutor implements Executor {
  private readonly parts: SparseExecutorParts
  private isBusy = false

  constructor(parts: SparseExecutorParts) {
    this.parts = parts
  }

  /** True from the begin of `execute` until its block was accepted or discarded. */
  get isExecuting(): boolean {
    return this.isBusy
  }

  /** @throws Error: sparse state begins at a block, not with a genesis */
  initGenesis(): Promise<Uint8Array> {
    throw new Error('sparse state has no genesis')
  }

  /** As `Executor.execute`.
   *  @throws StateNotAtUpstream when no upstream has the state before the block, ChainReorganized, UpstreamError,
   *  StateIncomplete */
  async execute(
    block: Block,
    rules: Rules,
    { blockAccessList, parent: parentHeader }: ExecuteOptions = {},
  ): Promise<ExecutedBlock> {
    const { spec, executor, state, nodes, parentOf, fetching } = this.parts
    this.isBusy = true
    const parent = parentOf(block.header)
    state.begin(parent.stateRoot, this.parts.closedStates())
    nodes.clear()
    const fetch = fetching(block, parent)
    const hints = new StateKeySet()
    addBlockKeys(hints, block, spec, blockAccessList)
    const unknown = state.unknownOf(hints)
    if (unknown.size > 0) this.add(await fetch.fetch({ ...NOTHING, before: unknown }))
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const outcome = await this.attempt(block, rules, parentHeader)
      if ('executed' in outcome) {
        const codes = state.missingCodes()
        if (codes.length > 0) this.add(await fetch.fetch({ ...NOTHING, codes }))
        return outcome.executed
      }
      executor.discard(true)
      this.add(await fetch.fetch(outcome.lacking))
    }
    throw new StateIncomplete(block.header.number, `${MAX_ATTEMPTS} attempts did not suffice`)
  }

  private async attempt(
    block: Block,
    rules: Rules,
    parent: Header | undefined,
  ): Promise<{ executed: ExecutedBlock } | { lacking: Lacking }> {
    const { executor, state } = this.parts
    try {
      const executed = await executor.execute(block, rules, { parent })
      const before = state.takeMissing()
      return before.size === 0 ? { executed } : { lacking: { ...NOTHING, before } }
    } catch (error) {
      const before = state.takeMissing()
      // With missing state, execution may have taken any path.
      if (before.size > 0) return { lacking: { ...NOTHING, before } }
      if (error instanceof MissingTrieNodes) {
        return { lacking: { before: keysOf(error.before), after: keysOf(error.after), codes: [] } }
      }
      const codes = state.missingCodes()
      if (error instanceof MissingCode && codes.length > 0)
        return { lacking: { ...NOTHING, codes, executedCode: error.codeHash } }
      throw error
    }
  }

  private add({ nodes, branches = [], after, codes }: FetchedBlockState): void {
    const { state, nodes: all } = this.parts
    for (const node of new Set(nodes)) all.add(node)
    for (const hash of branches) all.markBranch(hash)
    if (after) {
      const nodesAfter = new NodeSet()
      for (const node of after.nodes) nodesAfter.add(node)
      addDeletionHints(all, { ...after, nodes: nodesAfter })
    }
    for (const { hash, bytes } of codes) state.addCode(hash, bytes)
  }

  accept(): StateChanges {
    const { executor, state, root, nodes } = this.parts
    const base = state.base()
    const keys = keysOfBase(base).list()
    root.learn(keys)
    const changes = executor.accept()
    this.isBusy = false
    return { ...changes, base: { ...base, used: { keys, ...nodes.taken() } } }
  }

  stateRoot(): Uint8Array {
    return this.parts.executor.stateRoot()
  }

  commit(): void {
    this.parts.executor.commit()
  }

  discard(): void {
    this.isBusy = false
    this.parts.executor.discard()
  }

  revert(accounts: readonly RestoredAccount[]): Uint8Array {
    return this.parts.executor.revert(accounts)
  }

  reset(): void {
    this.isBusy = false
    this.parts.executor.reset()
  }

  get unhashed(): number {
    return this.parts.executor.unhashed
  }

  /** 0: the number of accounts is not known, and each block's root is compared whatever it is. */
  get accounts(): number {
    return 0
  }
}

function keysOf(entries: readonly StateKeys[]): StateKeySet {
  const keys = new StateKeySet()
  for (const each of entries) keys.addKeys(each)
  return keys
}

function keysOfBase({ accounts, slots }: BaseState): StateKeySet {
  const keys = new StateKeySet()
  for (const { address } of accounts) keys.add(address)
  for (const { address, slot } of slots) keys.add(address, slot)
  return keys
}
