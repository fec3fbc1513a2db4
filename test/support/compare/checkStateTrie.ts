import assert from 'node:assert/strict'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { Database } from '../../../src/store/database.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import type { TrieNodeRef } from '../../../src/trie/nodeFormat.js'
import { childOf, type TrieNode, unpackSlot } from '../../../src/trie/nodeRef.js'
import { createMemoryPages, type PagedTries } from '../../../src/trie/stateTrie.js'
import { createStateTries, storageOfPacked } from '../../../src/trie/stateTries.js'

/** Fails unless the stored state trie, hashed again from its leaves, has `root`, and its pages are exactly those that
 *  its content makes: none is missing, none left over. */
export function checkStateTrie(db: Database, root: string): void {
  const table = createStateTrieTable(db)
  const head = table.head()
  assert.ok(head !== undefined && head.building === undefined, 'no state trie is stored')
  const seen = new Set<number>()
  const read = (page: number) => {
    assert.ok(!seen.has(page), `page ${page} stands twice in the trie`)
    assert.ok(page < head.nextPage, `page ${page} is from beyond ${head.nextPage}`)
    seen.add(page)
    return table.read(page)
  }
  const top = parseHex(head.top)
  const pages = createMemoryPages()
  const tries = createStateTries(pages)
  let accounts = 0
  const rebuilt = buildAnew(tries.accounts, leavesOf(top.length === 0 ? undefined : top, read), (stored) => {
    accounts++
    const storage = storageOfPacked(stored)
    if (storage === undefined) return stored
    const slots = buildAnew(tries.storage, leavesOf(storage, read), (value) => value)
    return Buffer.concat([stored.subarray(0, stored.length - storage.length), slots!])
  })
  assert.equal(formatData(tries.accounts.root(rebuilt)), root, 'root of the leaves of the stored state trie')
  assert.equal(head.root, root)
  assert.equal(head.accounts, accounts)
  const bytes = [...seen].reduce((sum, page) => sum + table.read(page).length, 0)
  assert.deepEqual({ count: table.extent().count, bytes }, { count: seen.size, bytes: pages.bytes })
  assert.equal(pages.count, seen.size)
}

function leavesOf(
  top: TrieNodeRef | undefined,
  read: (page: number) => Uint8Array,
): { key: Uint8Array; value: Uint8Array }[] {
  if (top === undefined) return []
  const node: TrieNode = unpackSlot(top, read)
  if (node.kind === 'leaf') return [node]
  if (node.kind === 'unknown') assert.fail(`node ${formatData(node.hash)} is not known`)
  return Array.from({ length: 16 }, (_, nibble) => leavesOf(childOf(node, nibble), read)).flat()
}

function buildAnew(
  tries: PagedTries,
  leaves: { key: Uint8Array; value: Uint8Array }[],
  convert: (value: Uint8Array) => Uint8Array,
): TrieNodeRef | undefined {
  return tries.update(
    undefined,
    leaves.map(({ key, value }) => ({ key, change: () => convert(value) })),
  )
}
