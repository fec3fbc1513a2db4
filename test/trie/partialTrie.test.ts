import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { EMPTY_BYTES } from '../../src/lib/bytes.js'
import { formatData } from '../../src/lib/hex.js'
import { addTrieHint } from '../../src/trie/deletionHints.js'
import { type TrieNodeRef, unknownNode } from '../../src/trie/nodeFormat.js'
import { NodeSet } from '../../src/trie/nodeSet.js'
import { proveKey } from '../../src/trie/proof.js'
import { createPagedTries } from '../../src/trie/stateTrie.js'
import type { TriePages } from '../../src/trie/trieWriter.js'
import type { MissingNode } from '../../src/trie/unknownNodes.js'
import { PLAIN_VALUES } from '../support/chains/stateTrie.js'
import { contentOf } from '../support/chains/trieContent.js'
import { type SeededRandom, seededRandom } from '../support/random.js'

/* Tries that begin with their root alone, against complete ones. */

/** Pages in memory that can be restored. */
function createPages(): TriePages & { pages: Map<number, Uint8Array> } {
  const state = { pages: new Map<number, Uint8Array>() }
  let next = 1
  return Object.assign(state, {
    read: (page: number) => state.pages.get(page)!,
    write: (page: number, branch: Uint8Array) => void state.pages.set(page, branch),
    allocate: () => next++,
    free: (page: number) => void state.pages.delete(page),
  })
}

interface Change {
  key: Uint8Array
  value: Uint8Array
}

const updatesOf = (changes: readonly Change[]) =>
  changes.map(({ key, value }) => ({ key, change: () => (value.length === 0 ? undefined : value) }))

const KEY_KINDS = ['hashes', 'shared prefixes', 'late branches'] as const

/** Hashes, or keys that share long prefixes, so that branches skip nibbles and nodes are inside their parents. */
function keyOf(kind: (typeof KEY_KINDS)[number], random: SeededRandom): Uint8Array {
  if (kind === 'hashes') return keccak256(Uint8Array.of(random.below(120)))
  const key = new Uint8Array(32).fill(0x11)
  if (kind === 'shared prefixes') {
    for (let i = random.below(4); i >= 0; i--) key[random.below(32)] = [0x11, 0x12, 0x21, 0x77][random.below(4)]
    return key
  }
  key[0] = 16 * random.below(4) + random.below(3)
  key[31] = 16 * random.below(2) + random.below(4)
  return key
}

/** A value; short where branches are to be inside their parents. */
function someValue(kind: (typeof KEY_KINDS)[number], random: SeededRandom): Uint8Array {
  return kind === 'late branches' ? Uint8Array.of(random.below(256)) : random.bytes(1 + random.below(40))
}

/** A complete trie and a partial one of the same content. */
function createPair(random: SeededRandom, kind: (typeof KEY_KINDS)[number]) {
  const counts = { known: 0, before: 0, after: 0 }
  const nodes = new NodeSet()
  let missing: MissingNode[] = []
  const [fullPages, pages] = [createPages(), createPages()]
  const full = createPagedTries(fullPages, PLAIN_VALUES)
  const partial = createPagedTries(pages, PLAIN_VALUES, { nodes, onMissing: (each) => void missing.push(each) })
  const first = Array.from({ length: 2 + random.below(60) }, () => keyOf(kind, random))
  const held = new Map(first.map((key) => [formatData(key), { key, value: someValue(kind, random) }]))
  let fullTop = full.update(undefined, updatesOf([...held.values()]))
  let top: TrieNodeRef | undefined = unknownNode(full.root(fullTop))

  const attempt = (changes: readonly Change[]) => {
    const [before, beforeTop] = [new Map(pages.pages), top]
    missing = []
    top = partial.update(top, updatesOf(changes))
    if (missing.length === 0) return true
    pages.pages = before
    top = beforeTop
    return false
  }
  /** Applies changes to both, and compares the roots. */
  const change = (changes: readonly Change[]) => {
    const [undo, undoTops] = [[fullPages.pages, pages.pages].map((each) => new Map(each)), [fullTop, top] as const]
    const proofs = changes.flatMap(({ key }) => proveKey(full.reads, fullTop, key).nodes)
    fullTop = full.update(fullTop, updatesOf(changes))
    const root = full.root(fullTop)
    let state: keyof typeof counts = 'known'
    if (!attempt(changes)) {
      state = 'before'
      if (missing.some(({ isSibling }) => !isSibling)) for (const rlp of proofs) nodes.add(rlp)
      if (!attempt(changes)) {
        state = 'after'
        assert.ok(missing.every(({ isSibling }) => isSibling))
        // As `sortUpdates` orders them.
        const sorted = changes.map(({ key }) => key).sort(Buffer.compare)
        for (const { from } of missing) {
          const key = sorted[from]
          const after = new NodeSet()
          for (const rlp of proveKey(full.reads, fullTop, key).nodes) after.add(rlp)
          addTrieHint(nodes, { nodes: after, root, key })
        }
        assert.ok(attempt(changes), 'the proofs in the state after are not enough')
      }
    }
    counts[state]++
    assert.equal(formatData(partial.root(top)), formatData(root))
    return () => {
      ;[fullPages.pages, pages.pages] = undo
      ;[fullTop, top] = undoTops
    }
  }
  return {
    ...{ full, partial, nodes, held, counts, change },
    fullRead: fullPages.read,
    pages,
    tops: () => ({ fullTop, top }),
    attempt,
  }
}

const noChanges = (keys: Iterable<Change>) =>
  Array.from(keys, ({ key }) => ({ key, change: (before?: Uint8Array) => before }))

for (const kind of KEY_KINDS) {
  test(`a partial trie has the root of the complete one after every block: ${kind}`, () => {
    const sums = { known: 0, before: 0, after: 0 }
    let inside = 0
    for (let seed = 1; seed <= 150; seed++) {
      const random = seededRandom(seed)
      const pair = createPair(random, kind)
      const first = contentOf(pair.tops().fullTop, pair.fullRead)
      inside += first.filter((line) => / inline 0x[c-f]/.test(line)).length
      for (let block = 0; block < 12; block++) {
        const isKept = random.below(3) > 0
        if (isKept && random.below(3) === 0) pair.nodes.clear()
        const deleteOf = 2 + random.below(5)
        const changes = new Map<string, Change>()
        for (const [name, { key }] of pair.held) {
          if (random.below(deleteOf) === 0) changes.set(name, { key, value: EMPTY_BYTES })
        }
        for (let i = random.below(5); i > 0; i--) {
          const key = keyOf(kind, random)
          changes.set(formatData(key), { key, value: random.below(4) === 0 ? EMPTY_BYTES : someValue(kind, random) })
        }
        if (changes.size === 0) continue
        const undo = pair.change([...changes.values()])
        if (!isKept) {
          undo()
          continue
        }
        for (const [name, change] of changes) {
          if (change.value.length === 0) pair.held.delete(name)
          else pair.held.set(name, change)
        }
        const { fullTop, top } = pair.tops()
        for (const { key } of changes.values()) {
          assert.deepEqual(proveKey(pair.partial.reads, top, key), proveKey(pair.full.reads, fullTop, key))
        }
      }
      const { fullTop } = pair.tops()
      for (const { key } of pair.held.values()) {
        for (const rlp of proveKey(pair.full.reads, fullTop, key).nodes) pair.nodes.add(rlp)
      }
      const filled = pair.partial.update(pair.tops().top, noChanges(pair.held.values()))
      const lines = contentOf(fullTop, pair.fullRead)
      assert.deepEqual(contentOf(filled, pair.pages.read), lines)
      if (filled !== undefined) pair.partial.free(filled)
      assert.equal(pair.pages.pages.size, 0)
      for (const state of ['known', 'before', 'after'] as const) sums[state] += pair.counts[state]
    }
    assert.ok(sums.known > 50 && sums.before > 50 && sums.after > 20, JSON.stringify(sums))
    if (kind === 'late branches') assert.ok(inside > 50, `${inside} branches inside their parents`)
  })
}
