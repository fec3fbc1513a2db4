import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes, padLeft } from '../lib/bytes.js'
import { formatData } from '../lib/hex.js'
import type { Progress } from '../lib/progress.js'
import type { StateReader, StoredAccount } from '../store/state/stateReader.js'
import type { StateTrieTable } from '../store/state/stateTrieTable.js'
import type { TrieNodeRef } from './nodeFormat.js'
import { createPageCache } from './pageCache.js'
import { headOf } from './stateRoot.js'
import { createStateTries, type StateTries, updateState } from './stateTries.js'
import { hashUpdates } from './stateUpdates.js'

// Accounts or slots per step: some tens of milliseconds of work.
const STEP = 10_000
const PAGE_BYTES = 64 * 2 ** 20

/** The block of the newest state. */
export interface StateHead {
  number: number
  hash: Uint8Array // 32
  stateRoot: Uint8Array // 32
}

/** Dependencies of a rebuild. */
export interface RebuildOptions {
  reader: StateReader
  progress: Progress
  signal?: AbortSignal
  begin(): void
  commit(): void | Promise<void>
}

/** Rebuilds the stored trie of the newest state from the rows of accounts and slots, after blocks were removed. Works
 *  in transactions of some tens of milliseconds and resumes after a crash. Returns early if `signal` is aborted.
 *  @throws Error if the root of the rows differs from that of the head. */
export async function rebuildStateTrie(
  table: StateTrieTable,
  { number, hash, stateRoot }: StateHead,
  { reader, progress, signal, begin, commit }: RebuildOptions,
): Promise<void> {
  const blockHash = formatData(hash)
  const held = table.head()
  const from = held?.building?.blockHash === blockHash ? held : undefined
  const pages = createPageCache(table, PAGE_BYTES)
  pages.reset(from?.nextPage ?? 1)
  const tries = createStateTries(pages)
  const start = from && { top: topOf(from.top), accounts: from.accounts, addressId: from.building!.addressId }

  begin()
  // Pages of accounts that are not in the trie yet.
  table.removeFrom(pages.nextPage)
  let part: StatePart = start ?? { top: undefined, accounts: 0, addressId: 0 }
  const write = (isDone: boolean) => {
    pages.commit()
    pages.save()
    const state = isDone
      ? { block: { number, hash: blockHash } }
      : { building: { blockHash, addressId: part.addressId } }
    table.setHead({ ...headOf(tries, part, pages.nextPage), ...state })
  }
  for (const step of statePartsAfter(reader, tries, part)) {
    if (step === undefined) {
      // Inside an account's storage all pages are new, so the trie so far is unchanged.
      pages.commit()
      pages.save()
    } else {
      part = step
      write(false)
    }
    await commit()
    begin()
    progress.update(part.addressId)
    if (signal?.aborted) break
  }
  if (!signal?.aborted) {
    requireRoot(tries, part.top, stateRoot)
    write(true)
  }
  await commit()
}

function topOf(hex: string): TrieNodeRef | undefined {
  const bytes = new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
  return bytes.length === 0 ? undefined : bytes
}

function requireRoot(tries: StateTries, top: TrieNodeRef | undefined, wanted: Uint8Array): void {
  const root = tries.accounts.root(top)
  if (equalBytes(root, wanted)) return
  throw new Error(
    `the stored state has the root ${formatData(root)}, the newest block says ${formatData(wanted)}: the database is damaged`,
  )
}

/** The account trie up to an address id. */
interface StatePart {
  top: TrieNodeRef | undefined
  accounts: number
  addressId: number
}

/** The growing trie of accounts. Yields undefined after a part of an account's storage. */
function* statePartsAfter(reader: StateReader, tries: StateTries, start: StatePart): Generator<StatePart | undefined> {
  let { top, accounts, addressId } = start
  for (;;) {
    const rows = reader.latestAccounts(addressId, STEP)
    if (rows.length === 0) return
    const changed = []
    for (const { address, account } of rows) {
      if (account === undefined) continue
      const storage = yield* storageTrie(reader, tries, account)
      const codeHash = account.codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(account.codeId)
      const { nonce, balance } = account
      changed.push({ address, account: { nonce, balance, codeHash }, cleared: false, slots: [], storage })
    }
    top = updateState(tries, top, { updates: hashUpdates(changed), count: () => accounts++ })
    addressId = rows.at(-1)!.addressId
    yield { top, accounts, addressId }
  }
}

function* storageTrie(
  reader: StateReader,
  { storage }: StateTries,
  { addressId, incarnation }: StoredAccount,
): Generator<undefined, TrieNodeRef | undefined> {
  let top: TrieNodeRef | undefined
  let after: Uint8Array | undefined
  for (;;) {
    const rows = reader.latestStorage(addressId, incarnation, { after, limit: STEP })
    const updates = rows
      .filter(({ value }) => value.length > 0)
      .map(({ slot, value }) => ({ key: keccak256(padLeft(slot, 32)), change: () => value }))
    top = storage.update(top, updates)
    if (rows.length < STEP) return top
    after = rows.at(-1)!.slot
    yield undefined
  }
}
