import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { EMPTY_BYTES, equalBytes, keyOfBytes, padLeft, trimLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { BaseState, StateChanges } from '../../store/rows/stateChanges.js'
import { MissingState } from '../../store/state/missingState.js'
import { baseIncarnation, mayHaveUnknownSlots } from '../../store/state/sparseState.js'
import { LATEST, type StateReader } from '../../store/state/stateReader.js'
import { MissingTrieNode, type StateKeys } from '../../trie/missingNodes.js'
import type { NodeSet } from '../../trie/nodeSet.js'
import { readAccountNode, readSlotNode } from '../../trie/readNodes.js'
import type { NewestState } from './stateProvider.js'

/** Accounts and slots to fetch, each once. */
export class StateKeySet {
  private readonly byAddress = new Map<string, { address: Uint8Array; slots: Map<string, Uint8Array> }>()
  private entries = 0

  /** Number of accounts and slots. */
  get size(): number {
    return this.entries
  }

  /** Adds an account, 20 bytes, and a slot of it, up to 32 bytes. */
  add(address: Uint8Array, slot?: Uint8Array): void {
    const key = keyOfBytes(address)
    let entry = this.byAddress.get(key)
    if (entry === undefined) {
      entry = { address: address.slice(), slots: new Map() }
      this.byAddress.set(key, entry)
      this.entries++
    }
    if (slot === undefined) return
    const padded = padLeft(slot, 32).slice()
    if (entry.slots.has(keyOfBytes(padded))) return
    entry.slots.set(keyOfBytes(padded), padded)
    this.entries++
  }

  /** Adds an account and slots of it. */
  addKeys({ address, slots }: StateKeys): void {
    this.add(address)
    for (const slot of slots) this.add(address, slot)
  }

  /** Returns the accounts, each with its slots of 32 bytes. */
  list(): StateKeys[] {
    return Array.from(this.byAddress.values(), ({ address, slots }) => ({ address, slots: [...slots.values()] }))
  }
}

const NO_ROW = Symbol('no row')

type BaseAccount = BaseState['accounts'][number] & { readonly storageRoot: Uint8Array }

/** The newest state of a database with sparse state. What has no row is read from trie nodes below the state root of
 *  the parent block, which binds them. A value that these do not have either is noted and reads as empty: the caller
 *  fetches it, and executes the block again. */
export class SparseState implements NewestState {
  private readonly newest: NewestState
  private readonly reader: StateReader
  private readonly nodes: NodeSet
  private stateRoot: Uint8Array = EMPTY_TRIE_ROOT
  private closed = 0
  private accounts = new Map<string, BaseAccount | undefined>()
  private slots = new Map<string, { address: Uint8Array; slot: Uint8Array; value: Uint8Array }>()
  /** Accounts and slots that are known to have no rows. */
  private rowless = new Set<string>()
  private codes = new Map<string, Uint8Array>()
  private missing = new StateKeySet()

  /** Reads through `newest`, whose reader is `reader`, and from `nodes`. */
  constructor(newest: NewestState, reader: StateReader, nodes: NodeSet) {
    this.newest = newest
    this.reader = reader
    this.nodes = nodes
  }

  /** Begins a block on top of the state with that root, in the interval of states after `closed` others. No other rows
   *  may be added until its changes are stored. */
  begin(stateRoot: Uint8Array, closed: number): void {
    this.closed = closed
    this.stateRoot = stateRoot
    this.rowless = new Set()
    this.codes = new Map()
    this.accounts = new Map()
    this.slots = new Map()
    this.missing = new StateKeySet()
  }

  /** Adds code by its hash, 32 bytes, which the caller computed. */
  addCode(hash: Uint8Array, bytes: Uint8Array): void {
    this.codes.set(keyOfBytes(hash), bytes)
  }

  /** Returns what was read and is not known since the last call. */
  takeMissing(): StateKeySet {
    const { missing } = this
    this.missing = new StateKeySet()
    return missing
  }

  /** Returns accounts that were read without a row and whose code is neither stored nor added. */
  missingCodes(): { address: Uint8Array; codeHash: Uint8Array }[] {
    const wanted: { address: Uint8Array; codeHash: Uint8Array }[] = []
    for (const base of this.accounts.values()) {
      const codeHash = base?.account?.codeHash
      if (codeHash !== undefined && !this.isCodeKnown(codeHash)) wanted.push({ address: base!.address, codeHash })
    }
    return wanted
  }

  /** Returns the values that were read without rows, with their codes. */
  base(): BaseState {
    const accounts = [...this.accounts.values()].filter((each) => each !== undefined)
    const hashes = new Map<string, Uint8Array>()
    for (const { account } of accounts)
      if (account?.codeHash) hashes.set(keyOfBytes(account.codeHash), account.codeHash)
    const codes = [...hashes].flatMap(([key, hash]) => {
      const bytes = this.codes.get(key)
      return bytes === undefined ? [] : [{ hash, bytes }]
    })
    return { accounts, slots: [...this.slots.values()], codes }
  }

  /** Returns those of the keys whose values are not known. */
  unknownOf(keys: StateKeySet): StateKeySet {
    const unknown = new StateKeySet()
    for (const { address, slots } of keys.list()) {
      if (!this.isKnown(address)) unknown.add(address)
      for (const slot of slots) if (!this.isSlotKnown(address, slot)) unknown.add(address, slot)
    }
    return unknown
  }

  /** @throws Error when the changes alter what has neither a base row nor a value in `base`: a base row that is proved
   *  later would be wrong */
  private requireBase({ accounts, storage }: StateChanges): void {
    const fail = (address: Uint8Array) => {
      throw new Error(`account ${formatData(address)} changed before its base value was known`)
    }
    for (const { address } of accounts) if (!this.isKnown(address)) fail(address)
    for (const { address, incarnation, slot } of storage) {
      if (mayHaveUnknownSlots(incarnation) && !this.isSlotKnown(address, slot)) fail(address)
    }
  }

  account(address: Uint8Array): ReturnType<NewestState['account']> {
    const key = keyOfBytes(address)
    const base = this.accounts.get(key)
    if (base !== undefined) return this.recordOf(base)
    const stored = this.fromRows(key, () => this.newest.account(address))
    if (stored !== NO_ROW) return stored
    const found = this.findBase(address)
    return found && this.recordOf(found)
  }

  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const record = this.account(address)
    if (record?.account === undefined) return EMPTY_BYTES
    const isBase = this.accounts.get(keyOfBytes(address)) !== undefined
    if (isBase && !mayHaveUnknownSlots(record.incarnation)) return EMPTY_BYTES
    if (!isBase) {
      const stored = this.fromRows(slotKey(address, slot), () => this.newest.storage(address, slot))
      if (stored !== NO_ROW) return stored
    }
    return this.findSlot(address, slot) ?? EMPTY_BYTES
  }

  code(hash: Uint8Array): Uint8Array {
    const added = this.codes.get(keyOfBytes(hash))
    if (added !== undefined) return added
    if (this.reader.hasCode(hash)) return this.newest.code(hash)
    throw new MissingCode(hash)
  }

  hasStorage(address: Uint8Array): boolean {
    const base = this.accounts.get(keyOfBytes(address))
    return base === undefined ? this.newest.hasStorage(address) : !equalBytes(base.storageRoot, EMPTY_TRIE_ROOT)
  }

  /** As `NewestState.wrote`. @throws Error as `requireBase` */
  wrote(changes: StateChanges): void {
    this.requireBase(changes)
    this.newest.wrote(this.baseRows())
    this.newest.wrote(changes)
  }

  /** The values that were read without rows as the changes that their base rows are. */
  private baseRows(): StateChanges {
    const accounts = [...this.accounts.values()].filter((each) => each !== undefined)
    return {
      accounts: accounts.map(({ address, account, hasStorage }) => ({
        ...{ address, account },
        incarnation: baseIncarnation(this.closed, hasStorage),
      })),
      storage: Array.from(this.slots.values(), ({ address, slot, value }) => ({
        ...{ address, incarnation: baseIncarnation(this.closed, true) },
        ...{ slot: padLeft(slot, 32), value },
      })),
      codes: [],
    }
  }

  clear(): void {
    this.newest.clear()
  }

  private recordOf({ account, hasStorage }: BaseAccount): NonNullable<ReturnType<NewestState['account']>> {
    const fields = account && { ...account, codeHash: account.codeHash ?? EMPTY_CODE_HASH }
    return { incarnation: baseIncarnation(this.closed, hasStorage), account: fields }
  }

  private isKnown(address: Uint8Array): boolean {
    const key = keyOfBytes(address)
    return this.accounts.get(key) !== undefined || this.fromRows(key, () => this.newest.account(address)) !== NO_ROW
  }

  private isSlotKnown(address: Uint8Array, slot: Uint8Array): boolean {
    const key = slotKey(address, slot)
    return this.slots.has(key) || this.fromRows(key, () => this.newest.storage(address, slot)) !== NO_ROW
  }

  /** Returns what `read` of that account or slot returns; `NO_ROW` when there is no row, which is remembered. */
  private fromRows<T>(key: string, read: () => T): T | typeof NO_ROW {
    if (this.rowless.has(key)) return NO_ROW
    try {
      return read()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      this.rowless.add(key)
      return NO_ROW
    }
  }

  /** True for code that is stored or was added. */
  isCodeKnown(hash: Uint8Array): boolean {
    return this.codes.has(keyOfBytes(hash)) || this.reader.hasCode(hash)
  }

  /** Reads an account without a row from the nodes, and notes it as missing if they do not have it. */
  private findBase(address: Uint8Array): BaseAccount | undefined {
    try {
      const found = readAccountNode(this.nodes, this.stateRoot, address)
      const storageRoot = found?.storageRoot ?? EMPTY_TRIE_ROOT
      const own = address.slice()
      const base = {
        address: own,
        account: found && {
          nonce: found.nonce,
          balance: found.balance,
          codeHash: equalBytes(found.codeHash, EMPTY_CODE_HASH) ? undefined : found.codeHash,
        },
        storageRoot,
        hasStorage: !equalBytes(storageRoot, EMPTY_TRIE_ROOT) || hasListedSlots(this.reader, own, this.closed),
      }
      this.accounts.set(keyOfBytes(own), base)
      return base
    } catch (error) {
      if (!(error instanceof MissingTrieNode)) throw error
      if (!isSystemCaller(address)) this.missing.add(address)
      return undefined
    }
  }

  private findSlot(address: Uint8Array, slot: Uint8Array): Uint8Array | undefined {
    const key = slotKey(address, slot)
    const known = this.slots.get(key)
    if (known !== undefined) return known.value
    try {
      const storageRoot =
        this.accounts.get(keyOfBytes(address))?.storageRoot ??
        readAccountNode(this.nodes, this.stateRoot, address)?.storageRoot ??
        EMPTY_TRIE_ROOT
      const value = trimLeft(readSlotNode(this.nodes, storageRoot, padLeft(slot, 32))).slice()
      this.slots.set(key, { address: address.slice(), slot: trimLeft(slot).slice(), value })
      return value
    } catch (error) {
      if (!(error instanceof MissingTrieNode)) throw error
      this.missing.add(address, slot)
      return undefined
    }
  }
}

/** An account's code is executed and neither stored nor added. */
export class MissingCode extends MissingState {
  readonly codeHash: Uint8Array
  constructor(codeHash: Uint8Array) {
    super(EMPTY_BYTES, undefined, LATEST)
    this.message = `code with the hash ${formatData(codeHash)} is not known`
    this.codeHash = codeHash
  }
}

/** True if slots of an account that is not known have rows, from access lists of blocks, in the interval of states
 *  after `closed` others: they are of the incarnation with a storage. */
export function hasListedSlots(
  reader: Pick<StateReader, 'addressId' | 'hasSlotRow'>,
  address: Uint8Array,
  closed: number,
): boolean {
  const id = reader.addressId(address)
  return id !== undefined && reader.hasSlotRow(id, baseIncarnation(closed, true))
}

function slotKey(address: Uint8Array, slot: Uint8Array): string {
  return keyOfBytes(address) + keyOfBytes(padLeft(slot, 32))
}

/** The caller of system contracts (EIP-4788), 0xff…fe, which executing them reads and no witness has. */
function isSystemCaller(address: Uint8Array): boolean {
  return address[19] === 0xfe && address.every((byte, i) => i === 19 || byte === 0xff)
}
