import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import type { Header } from '../../chain/eth/types.js'
import { compareBytes, equalBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { DumpAccount, DumpItem, DumpPosition, DumpSlot, StateDumpFile } from '../../sources/files/stateDump.js'
import type { Database } from '../../store/database.js'
import {
  createStateDumpRows,
  createStateDumpWriter,
  type StateDumpRows,
  type StateDumpWriter,
} from '../../store/state/stateDumpRows.js'
import type { StateTrieHead, StateTrieTable } from '../../store/state/stateTrieTable.js'
import { beginWriting, commitWriting } from '../../store/writeTransaction.js'
import { type HashedAccount, HashedState } from '../../trie/hashedState.js'
import type { TrieNodeRef } from '../../trie/nodeFormat.js'

/** A state dump does not have the state root of its block. */
export class StateDumpRootDiffers extends CairnError {
  constructor(path: string, { number, stateRoot }: Header, found: { root: Uint8Array; accounts: number }) {
    super(
      `${path}: expected a state with the root of block ${number}, ${formatData(stateRoot)}, got ${found.accounts} accounts ` +
        `with the root ${formatData(found.root)}; dump the state after that block, without --limit and --start`,
    )
  }
}

/** A part of a dump that is stored, up to the begin of a line. */
export interface DumpProgress {
  readonly position: DumpPosition
  readonly accounts: number
  readonly slots: number
  /** Of the trie of these accounts. */
  readonly trie: StateTrieHead
}

export interface StateDumpLoaderParts {
  readonly db: Database
  readonly file: StateDumpFile
  readonly table: StateTrieTable
  readonly header: Header
  /** Accounts and slots of a transaction; default 50,000, about a second. */
  readonly batch?: number
  /** Stores where to resume, within the open transaction. */
  keep(progress: DumpProgress): void
}

const BATCH = 50_000
const CACHE_BYTES = 64 * 2 ** 20

/** Stores the items of a state dump by hash, and makes the state trie of them. Between calls a transaction is open. */
export class StateDumpLoader {
  private readonly parts: StateDumpLoaderParts
  private readonly writer: StateDumpWriter
  private readonly rows: StateDumpRows
  private readonly state: HashedState
  private kept: DumpProgress | undefined
  private accounts: number
  private slots: number
  /** Accounts that are not in the trie yet. */
  private batch: HashedAccount[] = []
  /** Slots of the account that is read. */
  private ownSlots = 0
  private unsaved = 0

  /** Resumes after `from`, or begins; removes what was stored beyond it. Begins a transaction. */
  constructor(parts: StateDumpLoaderParts, from: DumpProgress | undefined) {
    const { db, table } = parts
    this.parts = parts
    this.writer = createStateDumpWriter(db)
    this.rows = createStateDumpRows(db)
    this.state = new HashedState(table, CACHE_BYTES, from?.trie)
    this.kept = from
    this.accounts = from?.accounts ?? 0
    this.slots = from?.slots ?? 0
    beginWriting(db)
    this.state.removeOthers()
    this.writer.removeFrom(this.accounts + 1)
  }

  /** Accounts and slots so far. */
  get figures(): { accounts: number; slots: number } {
    return { accounts: this.accounts, slots: this.slots + this.ownSlots }
  }

  /** Stores an item. @returns true when a transaction was committed
   *  @throws StateDumpError about its line */
  add(item: DumpItem): boolean {
    if (item.kind === 'root') this.requireRoot(item.root)
    else if (item.kind === 'slots') this.addSlots(item.slots)
    else this.addAccount(item.account)
    if (this.unsaved < (this.parts.batch ?? BATCH)) return false
    if (item.kind === 'account') this.save()
    else this.commit()
    return true
  }

  /** Stores the rest, and compares the state root. The transaction stays open.
   *  @throws StateDumpRootDiffers */
  finish(): DumpProgress {
    this.save()
    const { file, header } = this.parts
    const root = this.state.root()
    if (equalBytes(root, header.stateRoot)) return this.kept!
    throw new StateDumpRootDiffers(file.path, header, { root, accounts: this.accounts })
  }

  private requireRoot(root: Uint8Array): void {
    const { file, header } = this.parts
    if (equalBytes(root, header.stateRoot)) return
    file.fail(
      'root',
      `expected the state root of block ${header.number}, ${formatData(header.stateRoot)}, got ${formatData(root)}`,
    )
  }

  private addSlots(slots: readonly DumpSlot[]): void {
    const id = this.accounts + 1
    for (const { hash, value } of slots) {
      if (!this.writer.addSlot(id, hash, value)) {
        this.parts.file.fail('storage', `the slot with the hash ${formatData(hash)} appears twice`)
      }
    }
    this.ownSlots += slots.length
    this.unsaved += slots.length
  }

  private addAccount({ hash, nonce, balance, codeHash, code, storageRoot }: DumpAccount): void {
    const { file } = this.parts
    const id = this.accounts + 1
    const storage = this.ownSlots === 0 ? undefined : this.storageTrie(id)
    const computed = this.state.storageRoot(storage)
    if (storageRoot !== undefined && !equalBytes(storageRoot, computed)) {
      const hint = this.ownSlots === 0 ? '; make the dump without --nostorage' : ''
      file.fail(
        'root',
        `expected the root of its storage, ${formatData(computed)}, got ${formatData(storageRoot)}${hint}`,
      )
    }
    if (!this.writer.addAccount({ hash, id, nonce, balance, code, hasStorage: storage !== undefined })) {
      file.fail('key', `the account with the hash ${formatData(hash)} appears twice`)
    }
    this.batch.push({ hash, nonce, balance, codeHash: code === undefined ? EMPTY_CODE_HASH : codeHash, storage })
    this.accounts = id
    this.slots += this.ownSlots
    this.ownSlots = 0
    this.unsaved++
  }

  /** Makes the storage trie of an account from its rows, which have the order of the trie. Pages that are saved in
   *  between are not part of the trie of accounts yet. */
  private storageTrie(id: number): TrieNodeRef | undefined {
    return this.state.storageTrie(
      (after, limit) => this.rows.slots(id, after, limit),
      () => this.commit(),
    )
  }

  /** Adds the batch to the trie, and commits it with where to resume. Call it after an account. */
  save(): void {
    const sorted = this.batch.sort((a, b) => compareBytes(a.hash, b.hash))
    if (sorted.length > 0) this.state.addAccounts(sorted)
    this.batch = []
    const { file, keep } = this.parts
    this.kept = { position: file.position, accounts: this.accounts, slots: this.slots, trie: this.state.save() }
    keep(this.kept)
    this.commit()
  }

  private commit(): void {
    const { db } = this.parts
    commitWriting(db)
    beginWriting(db)
    this.unsaved = 0
  }
}
