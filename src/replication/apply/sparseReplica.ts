import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { equalBytes, keyOfBytes, padLeft, trimLeft } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import { decodeStateEntry, type LearnedState } from '../../store/replication/stateEntry.js'
import { StateLog } from '../../store/replication/stateLog.js'
import { type PackedChanges, visitSlots } from '../../store/rows/packedChanges.js'
import type { BaseState } from '../../store/rows/stateChanges.js'
import { BaseRowLate } from '../../store/state/baseRows.js'
import { isStateKnown } from '../../store/state/missingState.js'
import { baseIncarnation, mayHaveUnknownSlots } from '../../store/state/sparseState.js'
import { LATEST } from '../../store/state/stateReader.js'
import type { WritableChain } from '../../sync/chainState.js'
import { StateRootDiffers } from '../../sync/head/errors.js'
import { ANCESTORS } from '../../sync/sparse/ancestorHashes.js'
import type { SparseChain } from '../../sync/sparse/sparseChain.js'
import { type BlockChanges, createBlockChanges } from '../../trie/blockChanges.js'
import { MissingTrieNode, MissingTrieNodes, type StateKeys } from '../../trie/missingNodes.js'
import { NodeSet } from '../../trie/nodeSet.js'
import { readAccountNode, readSlotNode } from '../../trie/readNodes.js'
import type { StateMessage } from '../codec/types.js'
import { InvalidMessage, StateEntriesMissing } from '../errors.js'
import { StateNodesMissing } from './errors.js'

const NO_BASE: BaseState = { accounts: [], slots: [], codes: [] }
const HASH_BYTES = 32

/** Adds what a writer added to its sparse state, at the same blocks. Values are read from the trie, whose root is that
 *  of the header: a message has the nodes, used by their hashes alone. */
export class SparseReplica {
  private readonly chain: WritableChain
  private readonly sparse: SparseChain
  private readonly log: StateLog
  private readonly changes: BlockChanges

  /** Over a chain that was opened with sparse state. */
  constructor(db: Database, chain: WritableChain, sparse: SparseChain) {
    this.chain = chain
    this.sparse = sparse
    this.log = new StateLog(db)
    this.changes = createBlockChanges(db, sparse.reader)
  }

  /** The newest entry that the state has. */
  get position(): number {
    return this.log.position
  }

  /** True when the next block comes with state changes. */
  get hasState(): boolean {
    return this.sparse.hasState
  }

  /** Requires that no entry is missing before a change set. @throws StateEntriesMissing */
  requireBefore(before: number): void {
    const { last } = this.log.bounds
    if (before > last) throw new StateEntriesMissing(last, before + 1)
  }

  /** True if the entry was added before. */
  has(entry: StateMessage): boolean {
    return this.log.has(entry)
  }

  /** Adds an entry to the state of the newest block, within the transaction; begins one.
   *  @throws InvalidMessage, StateNodesMissing */
  add(entry: StateMessage): void {
    const { head } = this.chain
    if (this.log.has(entry)) return
    head.begin()
    this.log.removeFrom(entry.id) // of a writer that lost its lease before it could publish them
    const newest = head.newest
    const name = nameOf(entry)
    if (newest === undefined || newest.header.number !== entry.at) {
      throw new InvalidMessage(`${name}.at`, `expected block ${newest?.header.number ?? 'none'}, got ${entry.at}`)
    }
    if (entry.kind === 'begin') this.begin(newest)
    else if (entry.kind === 'close') this.end(entry)
    else if (entry.kind === 'ancestors') this.storeAncestors(entry)
    const isState = entry.kind === 'fetched' || entry.kind === 'block'
    const base = isState ? this.learn(entry, newest.header) : NO_BASE
    try {
      head.putEntry(entry, base)
    } catch (error) {
      if (error instanceof BaseRowLate) throw new InvalidMessage(name, error.message, { cause: error })
      throw error
    }
  }

  /** Requires that the first row of all that a block changes is its base row: one that is fetched later would be wrong.
   *  @throws InvalidMessage */
  requireBase(blockNumber: number, changes: PackedChanges): void {
    const { reader } = this.sparse
    const { addresses, accounts, storage } = changes
    const requireKnown = (address: Uint8Array, read: () => unknown) => {
      if (isStateKnown(read)) return
      const problem = `expected the value of ${formatData(address)} before it changes, got none`
      throw new InvalidMessage(`state of block ${blockNumber}`, problem)
    }
    for (const each of accounts) {
      const address = addresses[each.address]
      requireKnown(address, () => reader.account(address, LATEST))
    }
    for (const group of storage.groups) {
      if (!mayHaveUnknownSlots(group.incarnation)) continue
      const address = addresses[group.address]
      const id = reader.addressId(address) ?? -1
      visitSlots(storage.bytes, group, (from, to) => {
        const slot = storage.bytes.subarray(from, to)
        requireKnown(address, () => reader.storage(id, group.incarnation, slot, LATEST))
      })
    }
  }

  /** Adds the changes of the newest block, whose rows are written, to the trie, and compares its root.
   *  @throws StateRootDiffers, StateNodesMissing */
  advance({ header }: Block): void {
    const { root } = this.sparse
    const { number, stateRoot } = header
    const computed = withNodes(`block ${number}`, () => root.update(this.changes.of(number)))
    if (!equalBytes(computed, stateRoot) && this.chain.reader.commitsToState(number)) {
      throw new StateRootDiffers({ from: number, to: number, computed, inHeader: stateRoot })
    }
    root.commit()
  }

  /** Returns what a removal of the blocks above `number` may make the trie forget, and the state keeps. */
  beforeRemoval(number: number): LearnedState[] {
    return this.log.removedBy(number).map(decodeStateEntry)
  }

  /** Adds it to the trie again: the writer may have kept it. */
  afterRemoval(learned: readonly LearnedState[]): void {
    if (!this.sparse.hasState || learned.length === 0) return
    this.sparse.learn({
      keys: learned.flatMap(keysOf),
      nodes: learned.flatMap(({ nodes }) => nodes),
      branches: learned.flatMap(({ branches }) => branches),
    })
  }

  private begin(block: { hash: Uint8Array; header: Header }): void {
    if (this.sparse.stateFirst === block.header.number) return // raised here, too
    this.sparse.begin(block)
  }

  private end(entry: StateMessage): void {
    this.requireState(entry)
    this.sparse.close(entry.at, { isLogged: false })
  }

  private storeAncestors(entry: StateMessage): void {
    const { data } = entry
    const { reader } = this.chain
    const { header } = reader.blockByNumber(reader.coverage()!.first)!
    const length = HASH_BYTES * Math.min(ANCESTORS, header.number)
    if (data.length !== length || !equalBytes(data.subarray(0, HASH_BYTES), header.parentHash.subarray(0, length))) {
      const wanted = `${length} bytes that begin with ${formatData(header.parentHash)}`
      const found = `${data.length} that begin with ${formatData(data.subarray(0, HASH_BYTES))}`
      throw new InvalidMessage(`${nameOf(entry)}.data`, `expected ${wanted}, got ${found}`)
    }
    this.sparse.storeAncestors(data.slice(), { isLogged: false })
  }

  private requireState(entry: StateMessage): void {
    if (!this.sparse.hasState)
      throw new InvalidMessage(nameOf(entry), `expected that the state begins first, got ${entry.kind}`)
  }

  /** Fills the trie with the nodes of an entry, and returns the values that got base rows. */
  private learn(entry: StateMessage, header: Header): BaseState {
    this.requireState(entry)
    const name = nameOf(entry)
    try {
      const learned = decodeStateEntry(entry.data)
      this.sparse.learn({ keys: keysOf(learned), nodes: learned.nodes, branches: learned.branches })
      return this.baseOf(learned, entry, header)
    } catch (error) {
      if (error instanceof DecodeError)
        throw new InvalidMessage(`${name}.${error.path}`, error.problem, { cause: error })
      throw error
    }
  }

  private baseOf(learned: LearnedState, entry: StateMessage, { stateRoot }: Header): BaseState {
    const name = nameOf(entry)
    const codes = codesOf(learned, entry)
    const accounts: BaseState['accounts'][number][] = []
    const slots: BaseState['slots'][number][] = []
    for (const { address, isBase, baseSlots } of learned.accounts) {
      if (!isBase && baseSlots.length === 0) continue
      const keys = baseSlots.map((slot) => padLeft(slot, HASH_BYTES))
      const nodes = new NodeSet()
      const proof = withNodes(name, () => this.sparse.root.prove(address, keys))
      for (const node of [...proof.nodes, ...proof.slots.flatMap((each) => each.nodes)]) nodes.add(node)
      const found = readAccountNode(nodes, stateRoot, address)
      const storageRoot = found?.storageRoot ?? EMPTY_TRIE_ROOT
      const hasStorage = !equalBytes(storageRoot, EMPTY_TRIE_ROOT)
      if (isBase) {
        const codeHash = found && !equalBytes(found.codeHash, EMPTY_CODE_HASH) ? found.codeHash : undefined
        if (codeHash && !codes.has(keyOfBytes(codeHash))) {
          throw new InvalidMessage(`${name}.codes`, `expected code with the hash ${formatData(codeHash)}, got none`)
        }
        const account = found && { nonce: found.nonce, balance: found.balance, codeHash }
        accounts.push({ address, account, hasStorage })
      }
      if (baseSlots.length > 0 && !(isBase ? hasStorage : this.hadStorage(address))) {
        throw new InvalidMessage(name, `expected no slots of ${formatData(address)}, whose storage was empty`)
      }
      for (const [i, slot] of baseSlots.entries()) {
        slots.push({ address, slot, value: trimLeft(readSlotNode(nodes, storageRoot, keys[i])).slice() })
      }
    }
    return { accounts, slots, codes: [...codes.values()] }
  }

  /** True for an account that had a storage at the first block, and still has that one. */
  private hadStorage(address: Uint8Array): boolean {
    const record = this.sparse.reader.account(address, LATEST)
    return record?.incarnation === baseIncarnation(this.sparse.closedStates, true)
  }
}

/** The code of the accounts of an entry, by hash. @throws InvalidMessage for other code */
function codesOf({ codeHashes }: LearnedState, entry: StateMessage): Map<string, BaseState['codes'][number]> {
  const name = nameOf(entry)
  if (entry.codes.length !== codeHashes.length) {
    throw new InvalidMessage(`${name}.codes`, `expected ${codeHashes.length}, got ${entry.codes.length}`)
  }
  return new Map(
    entry.codes.map((bytes, i) => {
      const hash = keccak256(bytes)
      if (!equalBytes(hash, codeHashes[i])) {
        const [expected, actual] = [codeHashes[i], hash].map(formatData)
        throw new InvalidMessage(`${name}.codes[${i}]`, `expected the hash ${expected}, got ${actual}`)
      }
      return [keyOfBytes(hash), { hash, bytes }]
    }),
  )
}

function keysOf({ accounts }: LearnedState): StateKeys[] {
  return accounts.map(({ address, baseSlots, slots }) => ({
    address,
    slots: [...baseSlots, ...slots].map((slot) => padLeft(slot, HASH_BYTES)),
  }))
}

function nameOf({ id }: StateMessage): string {
  return `state[${id}]`
}

/** @throws StateNodesMissing where the trie lacks nodes that neither it nor the message has */
function withNodes<T>(part: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof MissingTrieNode || error instanceof MissingTrieNodes)) throw error
    throw new StateNodesMissing(part, messageOf(error), { cause: error })
  }
}
