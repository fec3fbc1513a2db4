import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { StateKeySet } from '../../evm/state/sparseState.js'
import { equalBytes, trimLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { Clock } from '../../sources/upstreams/clock.js'
import { ChainReorganized } from '../../sources/upstreams/errors.js'
import type { BaseState } from '../../store/rows/stateChanges.js'
import { isStateKnown } from '../../store/state/missingState.js'
import { LATEST } from '../../store/state/stateReader.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import type { ChainHead } from '../head/chainHead.js'
import type { LearnedNodes, SparseChain } from './sparseChain.js'

/** State that a request needs. */
export interface WantedState {
  readonly keys: readonly StateKeys[]
  /** Not only the values, but the trie nodes that prove them. */
  readonly isProof: boolean
  /** A call that needs it: a hint of what else to fetch. */
  readonly call?: unknown
}

/** The server fetches more state than it may. */
export class StateFetchBusy extends CairnError {
  constructor(problem: string) {
    super(`${problem}; try again later`)
  }
}

/** State cannot be fetched here. */
export class NoStateSource extends CairnError {}

export interface StateOnDemandParts {
  readonly head: ChainHead
  readonly sparse: SparseChain
  readonly rpc: EthRpc
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Counters of fetched state. */
export interface StateOnDemandFigures {
  readonly fetches: number
  readonly accounts: number
  readonly slots: number
}

// Requests that wait for state at once, of all clients.
const MAX_WAITING = 10_000
// Keys of one batch; a hint adds at most this many.
const MAX_KEYS = 4_096
// Between two looks whether the open transaction has ended: an import's takes up to a second.
const RETRY_MS = 5
// The head may move while its state is proved.
const ATTEMPTS = 4

interface Waiting {
  readonly wanted: WantedState
  resolve(): void
  reject(error: unknown): void
}

/** Fetches state that requests need and stores it as base rows: a value that no stored block changed is the same at all
 *  heights, so that a proof at the newest block answers for all of them. Requests that arrive while a batch is fetched
 *  make the next one. */
export class StateOnDemand {
  private readonly parts: StateOnDemandParts
  private waiting: Waiting[] = []
  private isFetching = false
  private counts = { fetches: 0, accounts: 0, slots: 0 }

  constructor(parts: StateOnDemandParts) {
    this.parts = parts
  }

  get figures(): StateOnDemandFigures {
    return this.counts
  }

  /** Resolves when the value is stored. @throws StateFetchBusy, StateNotAtUpstream, UpstreamError, the reason of the
   *  signal */
  fetch(wanted: WantedState): Promise<void> {
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(new StateFetchBusy(`${MAX_WAITING} requests wait for state from the upstream`))
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ wanted, resolve, reject })
      if (!this.isFetching) void this.work()
    })
  }

  private async work(): Promise<void> {
    this.isFetching = true
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MAX_KEYS)
      try {
        await this.fetchBatch(batch.map(({ wanted }) => wanted))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.isFetching = false
  }

  private async fetchBatch(batch: readonly WantedState[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.fetchAtHead(batch)
      } catch (error) {
        if (!(error instanceof ChainReorganized) || attempt === ATTEMPTS) throw error
      }
    }
  }

  private async fetchAtHead(batch: readonly WantedState[]): Promise<void> {
    const { rpc, head, signal } = this.parts
    if (!this.parts.sparse.hasState) throw new NoStateSource('the newest blocks are stored without state')
    const { hash, header } = head.newest!
    const at = { number: header.number, hash, stateRoot: header.stateRoot }
    const keys = new StateKeySet()
    const proofs = new StateKeySet()
    for (const { keys: wanted, isProof } of batch) {
      for (const each of wanted) (isProof ? proofs : keys).addKeys(each)
    }
    for (const { call } of batch) {
      if (call === undefined || keys.size >= MAX_KEYS) continue
      const hint = await rpc.accessListHint(call as object, at, signal)
      for (const each of hint ?? []) keys.addKeys(each)
    }
    for (const each of this.unknownOf(keys)) proofs.addKeys(each)
    const requests = proofs.list()
    if (requests.length === 0) return
    const proved = await rpc.proofs(requests, at, signal)
    const wantedCodes = requests.flatMap(({ address }, i) => {
      const codeHash = proved[i].account?.codeHash
      return codeHash === undefined || this.isCodeKnown(codeHash) ? [] : [{ address, codeHash }]
    })
    const codes = wantedCodes.length === 0 ? [] : await rpc.codes(wantedCodes, at, signal)
    const nodes = proved.flatMap((each) => each.nodes)
    const accounts = requests.map(({ address }, i) => baseOf(address, proved[i].account))
    const base = {
      accounts,
      // A storage that is empty at the first block has no base rows.
      slots: requests.flatMap(({ address, slots }, i) =>
        slots.flatMap((slot, j) =>
          !accounts[i].hasStorage || this.isSlotKnown(address, slot)
            ? []
            : [{ address, slot: trimLeft(slot), value: proved[i].values[j] }],
        ),
      ),
      codes: codes.map((bytes, i) => ({ hash: wantedCodes[i].codeHash, bytes })),
    }
    await this.store(base, { keys: requests, nodes })
  }

  /** Returns the accounts with those of their slots that have no rows. */
  private unknownOf(keys: StateKeySet): StateKeys[] {
    const unknown = []
    for (const { address, slots } of keys.list()) {
      const missing = slots.filter((slot) => !this.isSlotKnown(address, slot))
      if (missing.length > 0 || !this.isAccountKnown(address)) unknown.push({ address, slots: missing })
    }
    return unknown
  }

  private isAccountKnown(address: Uint8Array): boolean {
    return isStateKnown(() => this.parts.sparse.reader.account(address, LATEST))
  }

  private isSlotKnown(address: Uint8Array, slot: Uint8Array): boolean {
    const { reader } = this.parts.sparse
    return isStateKnown(() => {
      const record = reader.account(address, LATEST)
      if (record !== undefined) reader.storage(record.addressId, record.incarnation, slot, LATEST)
    })
  }

  private isCodeKnown(hash: Uint8Array): boolean {
    return equalBytes(hash, EMPTY_CODE_HASH) || this.parts.sparse.reader.hasCode(hash)
  }

  /** Stores rows and nodes as soon as the follower neither executes a block nor has a transaction open. */
  private async store(base: BaseState, proved: LearnedNodes): Promise<void> {
    const { head, sparse, clock, signal } = this.parts
    while (head.inTransaction || sparse.isExecuting()) await clock.sleep(RETRY_MS, signal)
    head.storeBase(base, () => sparse.learn(proved))
    this.counts = {
      fetches: this.counts.fetches + 1,
      accounts: this.counts.accounts + base.accounts.length,
      slots: this.counts.slots + base.slots.length,
    }
  }
}

function baseOf(
  address: Uint8Array,
  account: { nonce: bigint; balance: bigint; codeHash: Uint8Array; storageRoot: Uint8Array } | undefined,
): BaseState['accounts'][number] {
  if (account === undefined) return { address, hasStorage: false }
  const { nonce, balance, codeHash, storageRoot } = account
  const fields = { nonce, balance, codeHash: equalBytes(codeHash, EMPTY_CODE_HASH) ? undefined : codeHash }
  return { address, account: fields, hasStorage: !equalBytes(storageRoot, EMPTY_TRIE_ROOT) }
}
