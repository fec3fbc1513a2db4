import { equalBytes } from '../lib/bytes.js'
import { formatData, parseHex } from '../lib/hex.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createRawRows } from '../store/rows/rawRows.js'
import { createRawState } from '../store/state/rawState.js'
import { createStateReader } from '../store/state/stateReader.js'
import { createStateTrieTable } from '../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../store/state/touchedAbove.js'
import { createTrieHistory } from '../store/state/trieHistory.js'
import { nibbleAt, type TrieNodeRef } from '../trie/nodeFormat.js'
import type { ValueRlp } from '../trie/nodeHashing.js'
import { childOf, linkedPage, onlyChild, referenceOfBranch, referenceOfUnknown, unpackSlot } from '../trie/nodeRef.js'
import { createMemoryPages } from '../trie/stateTrie.js'
import { createStateTries, storageOfPacked } from '../trie/stateTries.js'
import { findTrieBlock } from '../trie/trieBlock.js'
import { atPlace, DatabaseFault, type FaultPlace } from './fault.js'
import type { StateAudit } from './state.js'

const PLACE = { table: 'state_trie_pages' }
const HISTORY = { table: 'trie_layers' }

/** Rehashes the stored trie of the newest state from its leaves to its root, and checks that there are no other pages.
 *  One snapshot. @returns the number of accounts; undefined when no trie is stored or it is being built @throws
 *  DatabaseFault for the first difference */
export function auditStateTrie(db: Database, options: TrieAuditOptions = {}): number | undefined {
  return atPlace(
    PLACE,
    db.transaction(() => walkTrie(db, options)),
  )
}

interface TrieAuditOptions {
  /** The root of the rows after a block, for a block whose header does not commit to its state. */
  ofRows?: StateAudit['newest']
  /** Only a part of the trie is known, so that its accounts are not all counted. Default: false. */
  isPartial?: boolean
  onProgress?(accounts: number): void
}

function walkTrie(db: Database, { ofRows, isPartial, onProgress }: TrieAuditOptions): number | undefined {
  const table = createStateTrieTable(db)
  const head = table.head()
  const range = createRawRows(db).range()
  if (head === undefined || range === undefined || head.building !== undefined) return undefined
  const chain = createChainReader(db)
  const number = findTrieBlock(table, chain)?.number ?? range.head
  const [block] = createRawState(db).roots(number, 1)
  if (chain.commitsToState(number)) requireSame('root of the trie', formatData(block.state_root), head.root)
  else if (ofRows?.blockNumber === number) requireSame('root of the trie', formatData(ofRows.root), head.root)
  const { count, lastId } = table.extent()
  if (!(lastId < head.nextPage)) requireSame('nextPage', `above ${lastId}`, head.nextPage)
  const seen = new Uint8Array((lastId >> 3) + 1)
  let pages = 0
  let accounts = 0
  const read = (page: number): Uint8Array => {
    if (page > lastId || seen[page >> 3] & (1 << (page & 7))) requireSame(`page ${page}`, 'one link to it', 'another')
    seen[page >> 3] |= 1 << (page & 7)
    pages++
    return table.read(page)
  }
  // Storage tries are verified by their root hash; their pages are not read here.
  const { storage, accounts: accountTrie } = createStateTries(createMemoryPages())
  const onAccount = (stored: Uint8Array) => {
    const top = storageOfPacked(stored)
    if (top !== undefined) checkNode(top, [], { read, valueRlp: storage.reads.valueRlp, onLeaf: () => {} })
    accounts++
    onProgress?.(accounts)
  }
  const bytes = parseHex(head.top)
  const top = bytes.length === 0 ? undefined : bytes
  if (top !== undefined) checkNode(top, [], { read, valueRlp: accountTrie.reads.valueRlp, onLeaf: onAccount })
  requireSame('hash of the top', head.root, formatData(accountTrie.root(top)))
  if (!isPartial) requireSame('accounts', accounts, head.accounts)
  requireSame('pages', pages, count)
  return accounts
}

/** Rehashes the own pages of each kept trie before the newest one, up to its root, and compares the root with the
 *  header, its kept pages and its number of accounts. The rest of it was checked with the trie of the block after. Call
 *  it when `auditStateTrie` has found no difference. One snapshot.
 *  @returns the number of tries @throws DatabaseFault for the first difference */
export function auditTrieHistory(db: Database): number {
  return atPlace(HISTORY, db.transaction(walkHistory(db)))
}

function walkHistory(db: Database): () => number {
  const history = createTrieHistory(db)
  const reader = createStateReader(db)
  const touchedAbove = createTouchedAbove(db, reader)
  /** Returns by how many accounts a block changed their number. */
  const accountsAdded = (number: number) => {
    const has = (address: Uint8Array, at: number) => (reader.account(address, at)?.account ? 1 : 0)
    const changed = touchedAbove.take({ above: number - 1, upTo: number })
    return changed.reduce((sum, { address }) => sum + has(address, number) - has(address, number - 1), 0)
  }
  return () => {
    const newest = createStateTrieTable(db)
    const chain = createChainReader(db)
    const head = findTrieBlock(newest, chain)?.number
    if (head === undefined) return 0
    let { accounts: accountsAfter } = newest.head()!
    const from = history.from(head)
    const roots = createRawState(db).roots(from, head - from)
    for (const { number, state_root: stateRoot } of roots.reverse()) {
      const place = { table: history.tableOf(number + 1), row: `block ${number + 1}` }
      atPlace(place, () => {
        const table = history.at(number, head)
        const changed = history.changed(number + 1)
        const { storage, accounts } = createStateTries(createMemoryPages())
        const seen = new Set<number>()
        const read = (page: number) => {
          seen.add(page)
          return table.read(page)
        }
        const walk = { place, read, isWanted: (page: number) => changed.has(page) }
        const onLeaf = (stored: Uint8Array) => {
          const top = storageOfPacked(stored)
          if (top !== undefined) checkNode(top, [], { ...walk, valueRlp: storage.reads.valueRlp, onLeaf: () => {} })
        }
        const bytes = parseHex(table.head()!.top)
        const top = bytes.length === 0 ? undefined : bytes
        if (top !== undefined) {
          checkNode(top, [], { ...walk, valueRlp: accounts.reads.valueRlp, onLeaf })
        }
        for (const [page, { isAbsent }] of changed) {
          requireSame(`page ${page}`, seen.has(page) ? 'content' : 'none', isAbsent ? 'none' : 'content', place)
        }
        accountsAfter -= accountsAdded(number + 1)
        requireSame('accounts', accountsAfter, history.accountsBefore(number + 1) ?? accountsAfter, place)
        if (!chain.commitsToState(number)) return
        const root = accounts.root(top)
        if (equalBytes(root, stateRoot)) return
        throw new DatabaseFault(place, { field: 'root of the trie before it', expected: stateRoot, found: root })
      })
    }
    return roots.length
  }
}

interface Walk {
  /** Where the pages are; the newest trie's by default. */
  place?: FaultPlace
  /** Pages of nodes to look at, and all below them; all by default. */
  isWanted?(page: number): boolean
  read(page: number): Uint8Array
  valueRlp: ValueRlp
  onLeaf(stored: Uint8Array): void
}

/** Checks that a node and everything below it has the reference stored in its parent. `path` are the nibbles above. */
function checkNode(slot: TrieNodeRef, path: readonly number[], walk: Walk): void {
  const place: FaultPlace = walk.place ?? PLACE
  const page = linkedPage(slot)
  if (page !== undefined && walk.isWanted?.(page) === false) return
  const node = unpackSlot(slot, walk.read)
  if (node.kind === 'leaf') {
    // The hash of a leaf covers only the part of its key below its position.
    path.forEach((nibble, depth) => {
      requireSame(`key of a leaf at nibble ${depth}`, nibble, nibbleAt(node.key, depth), place)
    })
    walk.onLeaf(node.value)
    return
  }
  if (node.kind === 'branch') {
    const below = [...path, ...node.skip]
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = childOf(node, nibble)
      if (child !== undefined) checkNode(child, [...below, nibble], walk)
    }
    if (onlyChild(node) !== -2) requireSame('children of a branch', 'two or more', 'less', place)
  }
  const computed =
    node.kind === 'unknown' ? referenceOfUnknown(node) : referenceOfBranch(node, path.length, walk.valueRlp)
  const stored = slot.subarray(2, 2 + slot[1])
  if (!equalBytes(computed, stored)) {
    const row = [place.row, page && `page ${page}`].filter(Boolean).join(', ')
    throw new DatabaseFault(
      { table: place.table, row: row || undefined },
      { field: 'hash', expected: stored, found: computed },
    )
  }
}

function requireSame(field: string, expected: unknown, found: unknown, place: FaultPlace = PLACE): void {
  if (expected !== found) throw new DatabaseFault(place, { field, expected, found })
}
