import { encodeRlp } from '../../chain/eth/rlp.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'
import { createRawRows } from '../../store/chain/rawRows.js'
import type { Database } from '../../store/database.js'
import { createRawState } from '../../store/state/rawState.js'
import { createStateTrieTable } from '../../store/state/stateTrieTable.js'
import {
  childOf,
  nibbleAt,
  onlyChild,
  referenceOfBranch,
  type TrieNodeRef,
  unpackSlot,
  type ValueRlp,
} from '../../trie/nodeRef.js'
import { createMemoryPages } from '../../trie/stateTrie.js'
import { accountRlp, createStateTries, storageOfPacked } from '../../trie/stateTries.js'
import { atPlace, DatabaseFault } from './fault.js'

const PLACE = { table: 'state_trie_pages' }

/** Rehashes the stored trie of the newest state from its leaves to its root, and checks that there are no other pages.
 *  One snapshot. @returns the number of accounts; undefined when no trie is stored or it is being built @throws
 *  DatabaseFault for the first difference */
export function auditStateTrie(db: Database, onProgress?: (accounts: number) => void): number | undefined {
  return atPlace(
    PLACE,
    db.transaction(() => walkTrie(db, onProgress)),
  )
}

function walkTrie(db: Database, onProgress?: (accounts: number) => void): number | undefined {
  const table = createStateTrieTable(db)
  const head = table.head()
  const range = createRawRows(db).range()
  if (head === undefined || range === undefined || head.building !== undefined) return undefined
  const [block] = createRawState(db).roots(range.head, 1)
  requireSame('root of the trie', formatData(block.state_root), head.root)
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
  const { storage } = createStateTries(createMemoryPages())
  const onAccount = (stored: Uint8Array) => {
    const top = storageOfPacked(stored)
    if (top !== undefined) checkNode(top, [], { read, valueRlp: encodeRlp, onLeaf: () => {} })
    onProgress?.(++accounts)
  }
  const bytes = parseHex(head.top)
  const top = bytes.length === 0 ? undefined : bytes
  const valueRlp: ValueRlp = (stored) => accountRlp(stored, storage)
  if (top !== undefined) checkNode(top, [], { read, valueRlp, onLeaf: onAccount })
  const tries = createStateTries(createMemoryPages())
  requireSame('hash of the top', head.root, formatData(tries.accounts.root(top)))
  requireSame('accounts', accounts, head.accounts)
  requireSame('pages', pages, count)
  return accounts
}

interface Walk {
  read(page: number): Uint8Array
  valueRlp: ValueRlp
  onLeaf(stored: Uint8Array): void
}

/** Checks that a node and everything below it has the reference stored in its parent. `path` are the nibbles above. */
function checkNode(slot: TrieNodeRef, path: readonly number[], walk: Walk): void {
  const node = unpackSlot(slot, walk.read)
  if (node.kind === 'leaf') {
    // The hash of a leaf covers only the part of its key below its position.
    path.forEach((nibble, depth) => {
      requireSame(`key of a leaf at nibble ${depth}`, nibble, nibbleAt(node.key, depth))
    })
    walk.onLeaf(node.value)
    return
  }
  const below = [...path, ...node.skip]
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = childOf(node, nibble)
    if (child !== undefined) checkNode(child, [...below, nibble], walk)
  }
  if (onlyChild(node) !== -2) requireSame('children of a branch', 'two or more', 'less')
  const computed = referenceOfBranch(node, path.length, walk.valueRlp)
  const stored = slot.subarray(2, 2 + slot[1])
  if (!equalBytes(computed, stored)) {
    throw new DatabaseFault(node.page === 0 ? PLACE : { ...PLACE, row: `page ${node.page}` }, {
      field: 'hash',
      expected: stored,
      found: computed,
    })
  }
}

function requireSame(field: string, expected: unknown, found: unknown): void {
  if (expected !== found) throw new DatabaseFault(PLACE, { field, expected, found })
}
