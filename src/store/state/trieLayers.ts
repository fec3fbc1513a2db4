import type { Statement } from 'better-sqlite3'
import { concatBytes } from '../../lib/bytes.js'
import { type Cursor, readInteger, writeInteger } from '../../lib/varint.js'
import { createDataVersion } from '../commitWatch.js'
import type { Database } from '../database.js'
import { createMetaTable, META_TRIE_EDITION, META_TRIE_FLUSH } from '../meta.js'
import { ENTRY_KINDS, type EntryPlace, type IndexedLayer, LayerIndex, MOST_PARTS } from './layerIndex.js'
import { diffPage, patchPage } from './pagePatch.js'
import { createTriePageRows } from './triePages.js'

/* The pages of the state trie change all over the table `state_trie_pages` with each block: writing them there would
 * write a page of the database for each of them. Blocks that come one by one write a layer instead, which says what has
 * changed in each page, and many layers are flushed together. A layer is one row of `trie_layers`, and rows of
 * `trie_layer_parts` with its entries; each part fits a page of the database. An entry is the page's id, the kind, the
 * length of what follows, and the whole content or the patch to it. */

/** The reference to the root node (trie/nodeFormat.ts), empty for an empty state, and the number of accounts. */
export interface TrieTop {
  readonly top: Uint8Array
  readonly accounts: number
}

/** The change of a page. */
export interface PageChange {
  /** Undefined for a page that is removed. */
  readonly content: Uint8Array | undefined
  /** The content so far, where it is known. */
  readonly before?: Uint8Array
}

/** Changes by page. */
export type PageChanges = ReadonlyMap<number, PageChange>

/** How far a flush has come: the pages below `page` are stored as they are after block `block`. */
interface FlushState {
  readonly block: number
  readonly page: number
}

// A part with its row header fits a page of 4 KiB, unless it has one large entry alone.
const PART_BYTES = 4_000
// Bounds of what is left to flush, each with the blocks behind it: a flush writes each page once, however often it
// changed. LayerIndex says what their index takes.
const FLUSH_LAYERS = 1_024
const FLUSH_PARTS = 65_536
// Pages written in one transaction: some 5 ms where they are in memory.
const FLUSH_PAGES = 500

const instances = new WeakMap<Database, TrieLayers>()

/** The stored pages of the state trie with the layers above them. */
export class TrieLayers {
  readonly #meta
  readonly #version
  readonly #statements
  readonly #pages
  #index = new LayerIndex()
  #readVersion: number | undefined
  #flushed: FlushState | undefined
  /** Pages of the flush under way. */
  #flushing: Uint32Array | undefined

  private constructor(db: Database) {
    this.#meta = createMetaTable(db)
    this.#version = createDataVersion(db)
    this.#statements = prepare(db)
    this.#pages = createTriePageRows(db)
  }

  /** The layers of an open database: one instance for each connection. */
  static of(db: Database): TrieLayers {
    let instance = instances.get(db)
    if (instance === undefined) {
      instance = new TrieLayers(db)
      instances.set(db, instance)
    }
    return instance
  }

  /** Reads which layers there are, if another connection has committed. Call it in each snapshot before other reads. */
  refresh(): void {
    const version = this.#version()
    if (version === this.#readVersion) return
    this.#readVersion = version
    this.#flushed = this.#meta.get<FlushState | null>(META_TRIE_FLUSH) ?? undefined
    const stored = this.#statements.selectLayers.all()
    const { layers } = this.#index
    let same = 0
    while (same < layers.length && layers[same].id === stored[same]?.id) same++
    if (same === 0) this.#index = new LayerIndex()
    else this.#index.truncate(same)
    for (const layer of stored.slice(same)) this.#load(layer)
  }

  /** Reads again which layers there are, after a rollback. */
  reload(): void {
    this.#readVersion = undefined
    this.#flushing = undefined
  }

  /** Differs once pages were written without a layer. */
  get edition(): number {
    return this.#meta.get<number>(META_TRIE_EDITION) ?? 0
  }

  beginEdition(): void {
    this.#meta.set(META_TRIE_EDITION, this.edition + 1)
  }

  /** The layers, oldest first. */
  get layers(): readonly IndexedLayer[] {
    return this.#known.layers
  }

  /** Returns the content of a page after block `upTo`, at least the last one that was flushed; undefined if the page
   *  does not exist. */
  read(page: number, upTo = Infinity): Uint8Array | undefined {
    const index = this.#known
    const flushed = this.#flushed
    const above = flushed !== undefined && page < flushed.page ? flushed.block : -1
    const entries = index.entriesOf(page, above, upTo)
    const oldest = entries.at(-1)
    if (oldest === undefined) return this.#pages.read(page)
    const contents = this.#readContents(page, entries)
    let content = oldest.kind === 'patch' ? this.#pages.read(page) : undefined
    for (let i = entries.length - 1; i >= 0; i--) content = apply(page, content, entries[i].kind, contents[i])
    return content
  }

  /** Returns the top of the trie before the first layer above a block; undefined without such a layer. */
  topBefore(above: number): TrieTop | undefined {
    const next = this.#known.layers.find(({ block }) => block > above)
    return next && this.#statements.selectTop.get(next.id)
  }

  /** Returns the pages that the layers of a block changed. */
  pagesOf(blockNumber: number): Set<number> {
    const index = this.#known
    const pages = new Set<number>()
    for (const [i, { block }] of index.layers.entries()) {
      if (block === blockNumber) for (const page of index.pagesOf(i)) pages.add(page)
    }
    return pages
  }

  /** Returns the number of pages, and the largest id of one; 0 without pages. */
  extent(): { count: number; lastId: number } {
    let { count, lastId } = this.#pages.extent()
    for (const page of this.#known.pagesUpTo(Infinity)) {
      const isStored = this.#pages.read(page) !== undefined
      const exists = this.read(page) !== undefined
      count += Number(exists) - Number(isStored)
      if (exists) lastId = Math.max(lastId, page)
    }
    return { count, lastId }
  }

  /** Adds a layer whose contents count from block `block` on. `before`: the top of the trie that it changes. */
  append(block: number, before: TrieTop, changes: PageChanges): void {
    const index = this.#known
    const data = this.#encodeParts(changes)
    const { insertLayer, insertPart } = this.#statements
    const id = Number(insertLayer.run(block, before.top, before.accounts, data.length).lastInsertRowid)
    index.addLayer({ id, block, parts: data.length })
    for (const [i, part] of data.entries()) {
      insertPart.run(id * MOST_PARTS + i, part)
      this.#addEntries(id * MOST_PARTS + i, part)
    }
  }

  /** Removes the layers above a block. */
  removeAbove(above: number): void {
    const index = this.#known
    const first = index.layers.findIndex(({ block }) => block > above)
    if (first < 0) return
    this.#remove(index.layers[first].id, Infinity)
    index.truncate(first)
  }

  /** Removes all layers with their contents. */
  removeAll(): void {
    if (this.#known.layers.length > 0) this.#remove(0, Infinity)
    this.#index = new LayerIndex()
    this.#setFlushed(undefined)
  }

  /** Writes the newest contents of all pages to `state_trie_pages`, and removes the layers. `replaced`: pages that are
   *  written or removed next, whose contents are not needed. */
  flushAll(replaced?: ReadonlySet<number>): void {
    const index = this.#known
    if (index.layers.length === 0) return
    const pages = index.pagesUpTo(Infinity)
    this.#flushPages(replaced ? pages.filter((page) => !replaced.has(page)) : pages, Infinity)
    this.removeAll()
  }

  /** Returns the last block that is due to be flushed, so that the tries of `kept` blocks before the newest can still
   *  be read; undefined if too little would be written. With `times` above 1, as many times more must wait, also while
   *  a flush is under way; else that stays due until it ends. */
  due(kept: number, times = 1): number | undefined {
    const { layers } = this.#known
    if (this.#flushed && times === 1) return this.#flushed.block
    const newest = layers.at(-1)?.block ?? 0
    const end = layers.findIndex(({ block }) => block > newest - kept)
    if (end < 1) return undefined
    const parts = layers.slice(0, end).reduce((sum, layer) => sum + layer.parts, 0)
    if (end < times * FLUSH_LAYERS && parts < times * FLUSH_PARTS) return undefined
    return this.#flushed?.block ?? layers[end].block - 1
  }

  /** Writes some pages as they are after a block that is due. The tries of earlier blocks cannot be read any more.
   *  @returns true when there are more */
  flushSome(upTo: number, most = FLUSH_PAGES): boolean {
    this.#flushing ??= this.#known.pagesUpTo(upTo)
    const pages = this.#flushing
    const from = this.#flushed === undefined ? 0 : pages.findIndex((page) => page >= this.#flushed!.page)
    const some = from < 0 ? pages.subarray(pages.length) : pages.subarray(from, from + most)
    this.#flushPages(some, upTo)
    const last = some.at(-1)
    if (last !== undefined && last !== pages.at(-1)) {
      this.#setFlushed({ block: upTo, page: last + 1 })
      return true
    }
    const next = this.#index.layers.find(({ block }) => block > upTo)
    this.#remove(0, next?.id ?? Infinity)
    this.#setFlushed(undefined)
    this.reload()
    return false
  }

  #flushPages(pages: Uint32Array, upTo: number): void {
    for (const page of pages) {
      const content = this.read(page, upTo)
      if (content === undefined) this.#pages.remove(page)
      else this.#pages.write(page, content)
    }
  }

  #setFlushed(state: FlushState | undefined): void {
    this.#flushing = state && this.#flushing
    if (state === undefined && this.#flushed === undefined) return
    this.#flushed = state
    this.#meta.set(META_TRIE_FLUSH, state ?? null)
  }

  /** Removes the layers [from, to). */
  #remove(from: number, to: number): void {
    const { deleteLayers, deleteParts } = this.#statements
    const end = Math.min(to, Number.MAX_SAFE_INTEGER / MOST_PARTS)
    deleteParts.run(from * MOST_PARTS, end * MOST_PARTS)
    deleteLayers.run(from, end)
  }

  get #known(): LayerIndex {
    if (this.#readVersion === undefined) this.refresh()
    return this.#index
  }

  #load(layer: IndexedLayer): void {
    this.#index.addLayer(layer)
    for (const { id, data } of this.#statements.selectParts.iterate(
      layer.id * MOST_PARTS,
      (layer.id + 1) * MOST_PARTS,
    )) {
      this.#addEntries(id, data)
    }
  }

  /** Encodes changes, each part as a row. */
  #encodeParts(changes: PageChanges): Uint8Array[] {
    const parts: Uint8Array[] = []
    let [entries, bytes]: [Uint8Array[], number] = [[], 0]
    const end = () => {
      if (bytes > 0) parts.push(concatBytes(...entries))
      entries = []
      bytes = 0
    }
    for (const [page, change] of changes) {
      const entry = this.#encode(page, change)
      if (entry === undefined) continue
      if (bytes + entry.length > PART_BYTES) end()
      entries.push(entry)
      bytes += entry.length
    }
    end()
    if (parts.length > MOST_PARTS) throw new RangeError('a layer of the state trie has too many parts')
    return parts
  }

  #addEntries(part: number, data: Uint8Array): void {
    for (const cursor: Cursor = { bytes: data, at: 0 }; cursor.at < data.length; ) {
      const page = readInteger(cursor)
      const kind = ENTRY_KINDS[data[cursor.at++]]
      const length = readInteger(cursor)
      this.#index.addEntry(page, { kind, part, at: cursor.at, length })
      cursor.at += length
    }
  }

  /** Encodes the change of a page; undefined if it is none. */
  #encode(page: number, { content, before = this.read(page) }: PageChange): Uint8Array | undefined {
    if (content === undefined) return before && encodeEntry(page, 'absent')
    const patch = before && diffPage(before, content)
    if (patch?.length === 0) return undefined
    const isWhole = patch === undefined || this.#index.isWholeDue(page)
    return isWhole ? encodeEntry(page, 'whole', content) : encodeEntry(page, 'patch', patch)
  }

  /** Reads the contents of entries by one statement. With one for each, a page with eight entries takes 54 µs in place
   *  of 34. */
  #readContents(page: number, entries: readonly EntryPlace[]): Uint8Array[] {
    const values: number[] = []
    let total = 0
    for (const { part, at, length } of entries) {
      values.push(at + 1, length, part)
      total += length
    }
    const bytes = this.#statements.selectEntries(entries.length).get(...values)
    if (bytes?.length !== total) throw new Error(`a layer of the state trie lacks changes of page ${page}`)
    let from = 0
    return entries.map(({ length }) => {
      from += length
      return new Uint8Array(bytes.buffer, bytes.byteOffset + from - length, length)
    })
  }
}

/** Returns the content of a page after an entry. */
function apply(
  page: number,
  before: Uint8Array | undefined,
  kind: EntryPlace['kind'],
  content: Uint8Array,
): Uint8Array | undefined {
  if (kind === 'absent') return undefined
  if (kind === 'whole') return content
  if (before === undefined) throw new Error(`the state trie has a patch of page ${page}, and no page`)
  return patchPage(before, content)
}

function encodeEntry(page: number, kind: EntryPlace['kind'], content?: Uint8Array): Uint8Array {
  const head: number[] = []
  writeInteger(head, page)
  head.push(ENTRY_KINDS.indexOf(kind))
  writeInteger(head, content?.length ?? 0)
  return content === undefined ? Uint8Array.from(head) : concatBytes(Uint8Array.from(head), content)
}

function prepare(db: Database) {
  const selectLayers = db.prepare<[], IndexedLayer>(
    'SELECT id, block_number AS block, parts FROM trie_layers ORDER BY id',
  )
  return {
    selectLayers,
    selectTop: db.prepare<[number], TrieTop>('SELECT top, accounts FROM trie_layers WHERE id = ?'),
    selectEntries: prepareByCount(db),
    selectParts: db.prepare<[from: number, to: number], { id: number; data: Uint8Array }>(
      'SELECT id, data FROM trie_layer_parts WHERE id >= ? AND id < ? ORDER BY id',
    ),
    insertLayer: db.prepare('INSERT INTO trie_layers (block_number, top, accounts, parts) VALUES (?, ?, ?, ?)'),
    insertPart: db.prepare('INSERT INTO trie_layer_parts (id, data) VALUES (?, ?)'),
    deleteLayers: db.prepare<[from: number, to: number]>('DELETE FROM trie_layers WHERE id >= ? AND id < ?'),
    deleteParts: db.prepare<[from: number, to: number]>('DELETE FROM trie_layer_parts WHERE id >= ? AND id < ?'),
  }
}

/** Returns the statement that joins the contents of this many entries, each by its position from 1, length and part. */
function prepareByCount(db: Database): (count: number) => Statement<number[], Uint8Array | null> {
  const content = '(SELECT substr(data, ?, ?) FROM trie_layer_parts WHERE id = ?)'
  const statements: Statement<number[], Uint8Array | null>[] = []
  return (count) => {
    statements[count] ??= db
      .prepare<number[], Uint8Array | null>(`SELECT CAST(${Array(count).fill(content).join(' || ')} AS BLOB)`)
      .pluck()
    return statements[count]
  }
}
