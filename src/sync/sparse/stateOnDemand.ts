import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { hasListedSlots, StateKeySet } from '../../evm/state/sparseState.js'
import { equalBytes, keyOfBytes, totalBytes, trimLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import type { ProvedKeys, StateBlock } from '../../sources/ethRpc/stateTypes.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { Clock } from '../../sources/upstreams/clock.js'
import { ChainReorganized, StateNotAtUpstream } from '../../sources/upstreams/errors.js'
import { type LinkedAbort, linkAbort } from '../../sources/upstreams/linkedAbort.js'
import type { BaseState } from '../../store/rows/stateChanges.js'
import type { ChainReader } from '../../store/rows/types.js'
import { isStateKnown } from '../../store/state/missingState.js'
import { LATEST } from '../../store/state/stateReader.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import type { ChainHead } from '../head/chainHead.js'
import { FetchRate } from './fetchRate.js'
import { groupKeys } from './keyGroups.js'
import type { LearnedNodes, SparseChain } from './sparseChain.js'
import type { StateFigures } from './stateFigures.js'

/** State that a request needs. */
export interface WantedState {
  readonly keys: readonly StateKeys[]
  /** Not only the values, but the trie nodes that prove them. */
  readonly isProof: boolean
  /** A call that needs it: a hint of what else to fetch. */
  readonly call?: unknown
  /** Accounts and slots that the request may still fetch: bounds the hint. */
  readonly maxKeys: number
  /** How long the request waits. */
  readonly timeoutMs: number
}

/** The server fetches more state than it may. */
export class StateFetchBusy extends CairnError {
  constructor(problem: string) {
    super(`${problem}; try again later`)
  }
}

/** The upstreams did not send the state of a request in its time. */
export class StateFetchTimeout extends CairnError {
  /** @param problem of the upstreams, if there is one */
  constructor(timeoutMs: number, problem?: string) {
    const late = `the upstream did not send it within ${Math.ceil(timeoutMs / 1000)} s`
    super(problem === undefined ? late : `${late}: ${problem}`)
  }
}

/** State cannot be fetched here. */
export class NoStateSource extends CairnError {}

export interface StateOnDemandParts {
  readonly head: ChainHead
  readonly chain: ChainReader
  readonly sparse: SparseChain
  readonly rpc: EthRpc
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly figures: StateFigures
  /** Accounts and slots a second, for all requests. */
  readonly keysPerSecond: number
}

/** Accounts and slots that requests fetch in a second unless an option says otherwise. */
export const DEFAULT_KEYS_PER_SECOND = 2_000

// Requests that wait for state at once, of all clients.
const MAX_WAITING = 10_000
// Keys of one batch; a hint adds at most this many.
const MAX_KEYS = 4_096
// A batch that takes longer does not keep the next one from beginning.
const SLOW_MS = 1_000
// At most one begins a second while others are slow, and a request waits ten: those that hang keep no other waiting.
const MAX_BATCHES = 10
// Hints of all calls of one batch together.
const HINTS_MS = 2_000
// Between two looks whether the open transaction has ended: an import's takes up to a second.
const RETRY_MS = 5
// The head may move while its state is proved.
const ATTEMPTS = 4

interface Waiting {
  readonly wanted: WantedState
  readonly endsMs: number
  /** Accounts and slots that were asked for because of it. */
  keys: number
  /** Aborted when the request is resolved or rejected. */
  readonly ended: LinkedAbort
  resolve(keys: number): void
  reject(error: unknown): void
}

/** Fetches state that requests need and stores it as base rows: a value that no stored block changed is the same at all
 *  heights, so that a proof at the newest block answers for all of them. Requests that arrive while a batch is fetched
 *  make the next one. */
export class StateOnDemand {
  private readonly parts: StateOnDemandParts
  private readonly rate: FetchRate
  private readonly closing: LinkedAbort
  private queue: Waiting[] = []
  private readonly waiting = new Set<Waiting>()
  /** Batches that are fetched, each with its begin. */
  private readonly batches = new Map<readonly Waiting[], number>()
  private isBeginDue = false

  constructor(parts: StateOnDemandParts) {
    this.parts = parts
    this.rate = new FetchRate(parts.keysPerSecond, parts.clock)
    this.closing = linkAbort(parts.signal)
  }

  /** Resolves when the value is stored, with the number of accounts and slots that were asked for because of the
   *  request.
   *  @throws StateFetchTimeout when that takes longer than the request may wait, StateFetchBusy, StateNotAtUpstream,
   *  UpstreamError, NoStateSource after `close`, the reason of the signal */
  async fetch(wanted: WantedState): Promise<number> {
    const { clock, figures } = this.parts
    try {
      this.closing.signal.throwIfAborted()
      if (this.waiting.size >= MAX_WAITING) {
        throw new StateFetchBusy(`${MAX_WAITING} requests wait for state from the upstream`)
      }
      return await new Promise<number>((resolve, reject) => {
        const ended = linkAbort(this.closing.signal)
        const each: Waiting = { wanted, endsMs: clock.nowMs() + wanted.timeoutMs, keys: 0, ended, resolve, reject }
        this.waiting.add(each)
        this.queue.push(each)
        figures.waiting = this.waiting.size
        this.rejectInTime(each)
        this.beginBatch()
      })
    } catch (error) {
      figures.refused()
      throw error
    }
  }

  /** Rejects what waits, and ends what is being fetched: the database is closed. */
  close(): void {
    const error = new NoStateSource('following is stopped')
    this.closing.abort(error)
    this.closing.release()
    for (const each of this.waiting) this.settle(each, () => each.reject(error))
  }

  private settle(each: Waiting, settle: () => void): void {
    if (!this.waiting.delete(each)) return
    each.ended.abort(undefined)
    each.ended.release()
    this.parts.figures.waiting = this.waiting.size
    settle()
  }

  private rejectInTime(each: Waiting): void {
    const { timeoutMs } = each.wanted
    const late = () => this.settle(each, () => each.reject(this.timeout(timeoutMs)))
    this.parts.clock.sleep(timeoutMs, each.ended.signal).then(late, () => {})
  }

  private timeout(timeoutMs: number): StateFetchTimeout {
    return new StateFetchTimeout(timeoutMs, this.parts.rpc.stall()?.error.message)
  }

  /** Begins a batch of what waits: while one that has just begun is fetched, later. */
  private beginBatch(): void {
    if (this.batches.size === MAX_BATCHES || this.queue.length === 0) return
    const nowMs = this.parts.clock.nowMs()
    const dueMs = Math.max(...this.batches.values()) + SLOW_MS - nowMs
    if (dueMs > 0) {
      this.beginLater(dueMs)
      return
    }
    this.queue = this.queue.filter((each) => this.waiting.has(each))
    if (this.queue.length === 0) return
    const batch = this.takeBatch()
    this.batches.set(batch, nowMs)
    void this.runBatch(batch).finally(() => {
      this.batches.delete(batch)
      this.beginBatch()
    })
    this.beginBatch()
  }

  /** Looks again after some milliseconds: a timer may be early, and then once more. */
  private beginLater(ms: number): void {
    if (this.isBeginDue) return
    this.isBeginDue = true
    const begin = () => {
      this.isBeginDue = false
      this.beginBatch()
    }
    this.parts.clock.sleep(ms, this.closing.signal).then(begin, () => {})
  }

  private takeBatch(): Waiting[] {
    let keys = 0
    let count = 0
    while (count < this.queue.length && keys < MAX_KEYS) keys += countKeys(this.queue[count++].wanted.keys)
    return this.queue.splice(0, count)
  }

  /** Fetches for requests, as long as one of them waits. */
  private async runBatch(batch: readonly Waiting[]): Promise<void> {
    const { clock } = this.parts
    const linked = linkAbort(this.closing.signal)
    const endsMs = Math.max(...batch.map((each) => each.endsMs))
    const ended = linkAbort(linked.signal)
    const abort = () => linked.abort(new StateFetchTimeout(endsMs - clock.nowMs()))
    clock.sleep(endsMs - clock.nowMs(), ended.signal).then(abort, () => {})
    try {
      await this.fetchBatch(batch, linked.signal)
      for (const each of batch) this.settle(each, () => each.resolve(each.keys))
    } catch (error) {
      for (const each of batch) {
        const isLate = error instanceof StateFetchTimeout
        const reason = isLate ? this.timeout(each.wanted.timeoutMs) : error
        this.settle(each, () => each.reject(reason))
      }
    } finally {
      ended.abort(undefined)
      ended.release()
      linked.release()
    }
  }

  private async fetchBatch(batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { newest } = this.parts.head
      if (newest === undefined) throw new NoStateSource('no block is stored yet')
      if (!this.parts.sparse.hasState) throw new NoStateSource('the newest blocks are stored without state')
      const { hash, header } = newest
      try {
        return await this.fetchAt({ number: header.number, hash, stateRoot: header.stateRoot }, batch, signal)
      } catch (error) {
        const hasMoved = this.parts.head.newest === undefined || !equalBytes(this.parts.head.newest.hash, hash)
        const isRetried = error instanceof ChainReorganized || (error instanceof StateNotAtUpstream && hasMoved)
        if (!isRetried || attempt === ATTEMPTS) throw error
      }
    }
  }

  private async fetchAt(at: StateBlock, batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
    const { rpc, figures } = this.parts
    const keys = new StateKeySet()
    const proofs = new StateKeySet()
    for (const each of batch) {
      const { keys: wanted, isProof } = each.wanted
      for (const one of wanted) (isProof ? proofs : keys).addKeys(one)
      each.keys = isProof ? countKeys(wanted) : this.countUnknown(wanted)
    }
    await this.addHints(keys, at, batch, signal)
    for (const each of this.unknownOf(keys)) proofs.addKeys(each)
    const requests = proofs.list()
    if (requests.length === 0) return
    for (const group of groupKeys(requests)) {
      const count = { accounts: group.length, slots: countKeys(group) - group.length }
      await this.rate.take(count.accounts + count.slots, signal)
      // What a call reads is mostly of contracts; an account that is read by itself mostly has no code.
      const isOfCall = batch.some(({ wanted }) => wanted.call !== undefined)
      const called = isOfCall ? group.filter(({ address }) => !this.isAccountKnown(address)) : []
      const unknown = called.map(({ address }) => address)
      const [proved, hints] = await Promise.all([rpc.proofs(group, at, signal), rpc.codeHints(unknown, at, signal)])
      const codes = await this.fetchCodes(proved, { at, hints }, signal)
      const nodes = proved.flatMap((each) => each.nodes)
      const bytes = totalBytes(
        nodes,
        codes.map((each) => each.bytes),
      )
      await this.store(at, () => this.baseOf(proved, codes), { keys: group, nodes }, signal)
      figures.fetched('request', { ...count, bytes })
      rpc.progressed()
    }
  }

  /** Adds what upstreams say that calls access, while there is time: what is left out is fetched when it is read. */
  private async addHints(
    keys: StateKeySet,
    at: StateBlock,
    batch: readonly Waiting[],
    signal: AbortSignal,
  ): Promise<void> {
    const { rpc, clock } = this.parts
    const endsMs = clock.nowMs() + HINTS_MS
    for (const each of batch) {
      const { call, maxKeys } = each.wanted
      if (call === undefined || keys.size >= MAX_KEYS || clock.nowMs() >= endsMs) continue
      const hint = await rpc.accessListHint(call as object, at, signal)
      const hinted = new StateKeySet()
      for (const one of hint ?? []) hinted.addKeys(one)
      for (const { address, slots } of this.unknownOf(hinted)) {
        const left = Math.min(maxKeys - each.keys, MAX_KEYS - keys.size)
        if (left <= 0) break
        const some = { address, slots: slots.slice(0, left - 1) }
        keys.addKeys(some)
        each.keys += this.countUnknown([some])
      }
    }
  }

  /** Returns the codes of proved accounts that are not known: of the hints those that are right, the rest fetched. */
  private async fetchCodes(
    proved: readonly ProvedKeys[],
    { at, hints }: { at: StateBlock; hints: readonly Uint8Array[] },
    signal: AbortSignal,
  ): Promise<BaseState['codes']> {
    const hinted = new Map(hints.map((bytes) => [keyOfBytes(keccak256(bytes)), bytes]))
    const wanted = proved.flatMap(({ address, account }) =>
      account === undefined || this.isCodeKnown(account.codeHash) ? [] : [{ address, codeHash: account.codeHash }],
    )
    const missing = wanted.filter(({ codeHash }) => !hinted.has(keyOfBytes(codeHash)))
    const fetched = missing.length === 0 ? [] : await this.parts.rpc.codes(missing, at, signal)
    for (const [i, { codeHash }] of missing.entries()) hinted.set(keyOfBytes(codeHash), fetched[i])
    return wanted.map(({ codeHash }) => ({ hash: codeHash, bytes: hinted.get(keyOfBytes(codeHash))! }))
  }

  /** Returns the rows of proved values. */
  private baseOf(proved: readonly ProvedKeys[], codes: BaseState['codes']): BaseState {
    const accounts = proved.map(({ address, account }) => baseOfAccount(address, account))
    // A storage that is empty at the first block has no base rows; whether it is may be unknown after access lists.
    const { reader, closedStates } = this.parts.sparse
    const maySkip = (i: number) => {
      const { address, hasStorage } = accounts[i]
      return !hasStorage && !this.isAccountKnown(address) && !hasListedSlots(reader, address, closedStates)
    }
    const slots = proved.flatMap(({ address, slots: own, values }, i) =>
      own.flatMap((slot, j) =>
        maySkip(i) || this.isSlotKnown(address, slot) ? [] : [{ address, slot: trimLeft(slot), value: values[j] }],
      ),
    )
    return { accounts, slots, codes }
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

  private countUnknown(keys: readonly StateKeys[]): number {
    return keys.reduce((sum, { address, slots }) => {
      const unknown = slots.filter((slot) => !this.isSlotKnown(address, slot)).length
      return sum + unknown + (this.isAccountKnown(address) ? 0 : 1)
    }, 0)
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

  /** Stores rows and nodes as soon as the follower neither executes a block nor has a transaction open.
   *  @throws ChainReorganized when the block whose state was proved is not stored any more, which may have changed what
   *  is unknown again without it, or when the state begins after it by now */
  private async store(at: StateBlock, base: () => BaseState, proved: LearnedNodes, signal: AbortSignal): Promise<void> {
    const { head, chain, sparse, clock } = this.parts
    while (head.inTransaction || sparse.isExecuting()) await clock.sleep(RETRY_MS, signal)
    signal.throwIfAborted()
    const stored = chain.blockHash(at.number)
    const isStored = stored !== undefined && equalBytes(stored, at.hash)
    const { stateFirst, listing } = sparse
    // A listed block may have changed what is not known.
    if (!isStored || stateFirst === undefined || Math.max(stateFirst, listing.last ?? 0) > at.number) {
      throw new ChainReorganized(at.number + 1, at.hash)
    }
    head.storeBase(base(), () => sparse.learn(proved))
  }
}

function countKeys(keys: readonly StateKeys[]): number {
  return keys.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
}

function baseOfAccount(
  address: Uint8Array,
  account: { nonce: bigint; balance: bigint; codeHash: Uint8Array; storageRoot: Uint8Array } | undefined,
): BaseState['accounts'][number] {
  if (account === undefined) return { address, hasStorage: false }
  const { nonce, balance, codeHash, storageRoot } = account
  const fields = { nonce, balance, codeHash: equalBytes(codeHash, EMPTY_CODE_HASH) ? undefined : codeHash }
  return { address, account: fields, hasStorage: !equalBytes(storageRoot, EMPTY_TRIE_ROOT) }
}
