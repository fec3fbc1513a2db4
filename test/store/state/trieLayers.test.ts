import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { diffPage, patchPage } from '../../../src/store/state/pagePatch.js'
import { type PageChange, TrieLayers } from '../../../src/store/state/trieLayers.js'
import { createTriePageRows } from '../../../src/store/state/triePages.js'
import { beginWriting, commitWriting, rollbackWriting } from '../../../src/store/writeTransaction.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Layers against maps of whole contents, one for each block. */

type Pages = Map<number, Uint8Array>

function randomBytes(random: SeededRandom, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256))
}

/** A content as blocks change it: some bytes, its length, or all of it. */
function changed(random: SeededRandom, before: Uint8Array | undefined): Uint8Array {
  if (before === undefined || random.below(12) === 0) return randomBytes(random, 1 + random.below(5_000))
  const after = Uint8Array.from(before)
  const at = random.below(after.length)
  for (let i = 0; i < random.below(4) * 32; i++)
    after[(at + i * (1 + random.below(5))) % after.length] ^= 1 + random.below(255)
  if (random.below(2) === 0) return after
  const kept = after.subarray(0, at)
  return Buffer.concat([
    kept,
    randomBytes(random, random.below(60)),
    after.subarray(Math.min(after.length, at + random.below(40))),
  ])
}

test('a patch turns one content into the other, and is smaller than it', () => {
  const random = seededRandom(601)
  for (let i = 0; i < 3_000; i++) {
    const before = randomBytes(random, 1 + random.below(2_000))
    const after = changed(random, before)
    const patch = diffPage(before, after)
    if (patch === undefined) continue
    assert.ok(patch.length < after.length)
    assert.deepEqual(patchPage(before, patch), Uint8Array.from(after))
  }
  assert.equal(diffPage(Uint8Array.of(1, 2), Uint8Array.of(1, 2))?.length, 0)
  assert.ok(
    diffPage(
      new Uint8Array(1_000),
      Uint8Array.from({ length: 1_000 }, (_, i) => +(i === 500)),
    )!.length < 10,
  )
})

test('a damaged patch is refused, whatever is wrong with it', () => {
  const random = seededRandom(602)
  const before = randomBytes(random, 300)
  const after = Uint8Array.from(before)
  for (const at of [10, 100, 200]) after[at] ^= 1
  const patch = diffPage(before, after)!
  for (let length = 1; length < patch.length; length++) {
    try {
      assert.notDeepEqual(patchPage(before, patch.subarray(0, length)), after)
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error))
    }
  }
  assert.throws(() => patchPage(before.subarray(0, 100), patch), RangeError)
})

/** A database with layers, and what they should say. */
class LayeredModel {
  readonly db: Database
  readonly layers: TrieLayers
  /** Pages after each block from `first` on. */
  readonly after = new Map<number, Pages>()
  first = 0
  newest = 0
  flushing: number | undefined

  constructor(db: Database) {
    this.db = db
    this.layers = TrieLayers.of(db)
    this.after.set(0, new Map())
  }

  get now(): Pages {
    return this.after.get(this.newest)!
  }

  check(layers: TrieLayers): void {
    layers.refresh()
    for (let block = this.first; block <= this.newest; block++) {
      const pages = this.after.get(block)!
      for (let page = 1; page <= 40; page++) {
        const found = layers.read(page, block)
        assert.deepEqual(
          found && Buffer.from(found),
          pages.get(page) && Buffer.from(pages.get(page)!),
          `page ${page} after block ${block}`,
        )
      }
    }
    assert.deepEqual(layers.extent().count, this.now.size)
  }

  /** Adds a layer of a block, or one more to the newest. */
  add(random: SeededRandom, isAmending: boolean): void {
    const block = isAmending ? this.newest : this.newest + 1
    const next = new Map(this.now)
    const changes = new Map<number, PageChange>()
    for (let i = random.below(15); i >= 0; i--) {
      const page = 1 + random.below(40)
      const content = random.below(8) === 0 ? undefined : changed(random, next.get(page))
      changes.set(page, { content, before: random.below(2) === 0 ? this.now.get(page) : undefined })
      if (content) next.set(page, content)
      else next.delete(page)
    }
    this.layers.append(block, { top: Uint8Array.of(block - 1), accounts: this.newest }, changes)
    this.newest = block
    this.after.set(block, next)
  }

  rewind(to: number): void {
    this.layers.removeAbove(to)
    this.newest = to
  }

  /** Writes all pages, some of them with other contents. */
  replace(random: SeededRandom, rows: ReturnType<typeof createTriePageRows>): void {
    const replaced = new Set(Array.from({ length: random.below(15) }, () => 1 + random.below(40)))
    this.layers.flushAll(replaced)
    const next = new Map(this.now)
    for (const page of replaced) {
      const content = random.below(4) === 0 ? undefined : changed(random, next.get(page))
      if (content) rows.write(page, content)
      else rows.remove(page)
      if (content) next.set(page, content)
      else next.delete(page)
    }
    this.newest++
    this.after.set(this.newest, next)
  }

  /** Writes some pages of the layers up to a block. */
  flush(random: SeededRandom): void {
    this.flushing ??= this.first + random.below(this.newest - this.first + 1)
    this.first = this.flushing
    if (!this.layers.flushSome(this.flushing, 1 + random.below(15))) this.flushing = undefined
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`layers say what each block's pages were, through reorgs, flushes and rollbacks (seed ${seed})`, (t) => {
    const random = seededRandom(610 + seed)
    const datadir = temporaryDirectory(t)
    const db = openForWriting(datadir)
    t.after(() => void db.close())
    const reading = openForReading(datadir)
    t.after(() => void reading.close())
    const model = new LayeredModel(db)
    for (let round = 0; round < 120; round++) {
      const kind = random.below(12)
      beginWriting(db)
      if (kind < 6) model.add(random, model.newest > model.first && random.below(5) === 0)
      else if (kind === 6 && model.newest > model.first)
        model.rewind(model.first + random.below(model.newest - model.first))
      else if (kind === 7) {
        if (random.below(2) === 0) model.layers.flushAll()
        else model.replace(random, createTriePageRows(db))
        model.first = model.newest
        model.flushing = undefined
      } else if (kind < 10 && model.newest > model.first) model.flush(random)
      else {
        const [newest, first, flushing] = [model.newest, model.first, model.flushing]
        const after = new Map(model.after)
        for (let i = 0; i < 3; i++) model.add(random, false)
        model.rewind(newest + random.below(3))
        model.layers.flushAll()
        rollbackWriting(db)
        model.layers.reload()
        Object.assign(model, { newest, first, flushing })
        for (const [block, pages] of after) model.after.set(block, pages)
      }
      if (db.inTransaction) commitWriting(db)
      if (round % 4 === 0) for (const layers of [model.layers, TrieLayers.of(reading)]) model.check(layers)
    }
    beginWriting(db)
    model.layers.flushAll()
    commitWriting(db)
    const rows = createTriePageRows(reading)
    for (let page = 1; page <= 40; page++) assert.equal(rows.read(page)?.length, model.now.get(page)?.length)
    assert.equal(db.prepare('SELECT count(*) FROM trie_layer_parts').pluck().get(), 0)
  })
}

test('a page that changes with each block is read from few rows', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const layers = TrieLayers.of(db)
  const content = new Uint8Array(1_000)
  beginWriting(db)
  let bytes = 0
  for (let block = 1; block <= 100; block++) {
    content[block] = block
    layers.append(block, { top: Uint8Array.of(1), accounts: 0 }, new Map([[7, { content: content.slice() }]]))
    assert.deepEqual(layers.read(7), content)
  }
  for (const data of db.prepare<[], Uint8Array>('SELECT data FROM trie_layer_parts').pluck().iterate())
    bytes += data.length
  commitWriting(db)
  assert.ok(bytes < 100 * 100, `${bytes} bytes`) // a whole content each 17 blocks, else some bytes
  assert.ok(
    db.prepare<[], number>('SELECT count(*) FROM trie_layer_parts WHERE length(data) > 1000').pluck().get()! >= 5,
  )
})

test('a page that is written with the content that it has is not changed, also after many patches', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const layers = TrieLayers.of(db)
  const content = new Uint8Array(1_000)
  const append = (block: number) =>
    layers.append(block, { top: Uint8Array.of(1), accounts: 0 }, new Map([[7, { content: content.slice() }]]))
  beginWriting(db)
  for (let block = 1; block <= 60; block += 2) {
    content[block] = block
    append(block)
    append(block + 1)
    assert.deepEqual([...layers.pagesOf(block)], [7])
    assert.deepEqual([...layers.pagesOf(block + 1)], [])
  }
  commitWriting(db)
})

test('what is due to be flushed leaves the blocks that are kept', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  const layers = TrieLayers.of(db)
  beginWriting(db)
  let due: number | undefined
  let block = 0
  for (; due === undefined; due = layers.due(128)) {
    block++
    layers.append(
      block,
      { top: Uint8Array.of(1), accounts: 0 },
      new Map([1, 2].map((page) => [page, { content: Uint8Array.of(block % 256, block >> 8) }])),
    )
  }
  assert.equal(due, block - 128)
  assert.equal(layers.due(128, 2), undefined)
  assert.equal(layers.flushSome(due, 1), true)
  // One that has begun is not due at once with the next block.
  assert.equal(layers.due(128), due)
  assert.equal(layers.due(128, 2), undefined)
  assert.equal(layers.flushSome(due), false)
  assert.equal(layers.layers[0].block, due + 1)
  for (const each of [due, due + 1, block]) assert.deepEqual(layers.read(1, each), Uint8Array.of(each % 256, each >> 8))
  assert.equal(layers.due(128), undefined)
  commitWriting(db)
})
