import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_BYTES } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import type { TrieNodeRef } from '../../src/trie/nodeFormat.js'
import { createMemoryPages, createPagedTries } from '../../src/trie/stateTrie.js'
import { createStateTrie, PLAIN_VALUES } from '../support/chains/stateTrie.js'
import { contentOf } from '../support/chains/trieContent.js'
import { seededRandom } from '../support/random.js'

test('the state trie has the root of a Merkle Patricia trie after every change', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = seededRandom(seed)
    const trie = createStateTrie()
    const oracle = new MerklePatriciaTrie()
    // Few keys, so that removals, replacements and removals of what is not there all happen.
    const keys = Array.from({ length: 60 }, (_, i) => keccak256(Uint8Array.of(seed, i)))
    for (let step = 0; step < 400; step++) {
      const key = keys[random.below(keys.length)]
      const value = random.below(3) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(60))
      trie.put(key, value)
      if (value.length === 0) await oracle.del(key)
      else await oracle.put(key, value)
      // Not at each step, so that several changes are hashed at once.
      if (random.below(4) === 0)
        assert.equal(formatData(trie.root()), formatData(oracle.root()), `seed ${seed}, step ${step}`)
    }
    for (const key of keys) {
      trie.put(key, EMPTY_BYTES)
      await oracle.del(key)
    }
    assert.equal(formatData(trie.root()), formatData(oracle.root()))
  }
})

test('keys that share long prefixes split and join extensions', async () => {
  const random = seededRandom(99)
  const trie = createStateTrie()
  const oracle = new MerklePatriciaTrie()
  const keys = Array.from({ length: 40 }, () => {
    const key = new Uint8Array(32).fill(0x11)
    key[random.below(32)] = random.below(256)
    key[31] = random.below(256)
    return key
  })
  for (let step = 0; step < 800; step++) {
    const key = keys[random.below(keys.length)]
    const value = random.below(2) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(4))
    trie.put(key, value)
    if (value.length === 0) await oracle.del(key)
    else await oracle.put(key, value)
    assert.equal(formatData(trie.root()), formatData(oracle.root()), `step ${step}`)
  }
})

test('a trie of many pages has the root of a Merkle Patricia trie, grows and shrinks, and frees its pages', async () => {
  const random = seededRandom(7)
  const pages = createMemoryPages()
  const trie = createStateTrie(pages)
  const oracle = new MerklePatriciaTrie()
  const keys = Array.from({ length: 3000 }, (_, i) => keccak256(Uint8Array.of(i >> 8, i)))
  const change = async (share: number, removeOf: number) => {
    for (const key of keys) {
      if (random.below(100) >= share) continue
      const value = random.below(removeOf) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(110))
      trie.put(key, value)
      if (value.length === 0) await oracle.del(key)
      else await oracle.put(key, value)
    }
    assert.equal(formatData(trie.root()), formatData(oracle.root()))
  }
  const counts: number[] = []
  for (const share of [1, 5, 30, 90, 10, 1]) {
    await change(share, 4)
    counts.push(pages.count)
  }
  assert.ok(counts[3] > 100 && counts[3] > counts[1], `pages: ${counts}`)
  for (const share of [60, 60, 80, 90]) await change(share, 1)
  assert.ok(pages.count < 10, `${pages.count} pages are left`)
  await change(100, 1)
  assert.equal(pages.count, 0)
})

test('the layout of a trie in pages depends on its content, not on its history', () => {
  const random = seededRandom(11)
  const wanted = new Map<string, Uint8Array>()
  const dump = (
    tries: ReturnType<typeof createPagedTries>,
    pages: ReturnType<typeof createMemoryPages>,
    top?: TrieNodeRef,
  ) => [formatData(tries.root(top)), pages.count, pages.bytes]
  const pages = createMemoryPages()
  const tries = createPagedTries(pages, PLAIN_VALUES)
  let top: TrieNodeRef | undefined
  for (let round = 0; round < 40; round++) {
    const updates = new Map<string, Uint8Array>()
    for (let i = 0; i < 60; i++) {
      updates.set(
        formatData(keccak256(Uint8Array.of(random.below(4), random.below(256)))),
        random.bytes(random.below(70)),
      )
    }
    const list = Array.from(updates, ([key, value]) => ({
      key: new Uint8Array(Buffer.from(key.slice(2), 'hex')),
      change: () => (value.length === 0 ? undefined : value),
    }))
    top = tries.update(top, list)
    for (const [key, value] of updates) {
      if (value.length === 0) wanted.delete(key)
      else wanted.set(key, value)
    }
  }
  const rebuiltPages = createMemoryPages()
  const rebuilt = createPagedTries(rebuiltPages, PLAIN_VALUES)
  const all = Array.from(wanted, ([key, value]) => ({
    key: new Uint8Array(Buffer.from(key.slice(2), 'hex')),
    change: () => value,
  }))
  assert.deepEqual(dump(tries, pages, top), dump(rebuilt, rebuiltPages, rebuilt.update(undefined, all)))
  assert.ok(pages.count > 10)
  tries.free(top!)
  assert.equal(pages.count, 0)
})

test('one batch and many small ones, of keys that share prefixes too, store the same pages', () => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = seededRandom(seed)
    // Even seeds: few nibbles differ, so that branches skip many and are split, joined and moved between pages.
    const makeKey = () => {
      if (seed % 2 === 1) return keccak256(Uint8Array.of(random.below(6), random.below(256)))
      const key = new Uint8Array(32).fill(0x11)
      for (let i = random.below(4); i >= 0; i--) key[random.below(32)] = [0x11, 0x12, 0x21, 0x77][random.below(4)]
      return key
    }
    const pages = createMemoryPages()
    const tries = createPagedTries(pages, PLAIN_VALUES)
    const held = new Map<string, Change>()
    let top: TrieNodeRef | undefined
    for (let round = 0; round < 25; round++) {
      const removeOf = [2, 3, 8, 1][random.below(4)]
      const batch = new Map<string, Change>()
      for (let i = random.below(random.below(3) === 0 ? 900 : 30); i >= 0; i--) {
        const key = makeKey()
        // Some branches take a page by their values, not by the number of children.
        const value =
          random.below(removeOf) === 0 ? EMPTY_BYTES : random.bytes(1 + random.below(i % 9 === 0 ? 300 : 40))
        batch.set(formatData(key), { key, value })
      }
      for (const [name, change] of batch) {
        if (change.value.length === 0) held.delete(name)
        else held.set(name, change)
      }
      const small = [...batch.values()]
      const other = { pages: createMemoryPages(), top: undefined as TrieNodeRef | undefined }
      const rebuilt = createPagedTries(other.pages, PLAIN_VALUES)
      for (const change of held.values()) other.top = rebuilt.update(other.top, updatesOf([change]))
      if (round % 2 === 0) top = tries.update(top, updatesOf(small))
      else while (small.length > 0) top = tries.update(top, updatesOf(small.splice(0, 1 + random.below(4))))
      const place = `seed ${seed}, round ${round}`
      assert.deepEqual(contentOf(top, pages.read), contentOf(other.top, other.pages.read), place)
      assert.equal(pages.count, other.pages.count, place)
      assert.equal(formatData(tries.root(top)), formatData(rebuilt.root(other.top)), place)
    }
    if (top !== undefined) tries.free(top)
    assert.equal(pages.count, 0)
  }
})

interface Change {
  key: Uint8Array
  value: Uint8Array
}

const updatesOf = (changes: readonly Change[]) =>
  changes.map(({ key, value }) => ({ key, change: () => (value.length === 0 ? undefined : value) }))

test('leaves longer than what is hashed at once', async () => {
  const random = seededRandom(17)
  const trie = createStateTrie()
  const oracle = new MerklePatriciaTrie()
  for (const length of [59_700, 59_800, 59_840, 60_000, 0xffff]) {
    const [key, value] = [random.bytes(32), random.bytes(length)]
    trie.put(key, value)
    await oracle.put(key, value)
    assert.equal(formatData(trie.root()), formatData(oracle.root()), `${length} bytes`)
  }
})

test('an update receives the previous value, at any depth', () => {
  const random = seededRandom(13)
  const tries = createPagedTries(createMemoryPages(), PLAIN_VALUES)
  const held = new Map<string, Uint8Array>()
  let top: TrieNodeRef | undefined
  for (let round = 0; round < 60; round++) {
    const keys = new Map(
      Array.from({ length: 25 }, () => {
        const key = keccak256(Uint8Array.of(random.below(200)))
        return [formatData(key), key] as const
      }),
    )
    const updates = Array.from(keys, ([name, key]) => ({
      key,
      change: (before: Uint8Array | undefined) => {
        assert.equal(before && formatData(before), held.get(name) && formatData(held.get(name)!))
        const value = random.below(3) === 0 ? undefined : random.bytes(1 + random.below(40))
        if (value === undefined) held.delete(name)
        else held.set(name, value)
        return value
      },
    }))
    top = tries.update(top, updates)
  }
})
