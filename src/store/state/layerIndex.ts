/** What an entry of a layer says about its page. */
export const ENTRY_KINDS = ['absent', 'whole', 'patch'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

/** A layer as its index knows it. */
export interface IndexedLayer {
  readonly id: number
  /** Its entries count from this block on. */
  readonly block: number
  /** Number of rows of `trie_layer_parts`. */
  readonly parts: number
}

/** Where an entry is. */
export interface EntryPlace {
  readonly kind: EntryKind
  /** The row of `trie_layer_parts`, and the position and number of the bytes of its content in it. */
  readonly part: number
  readonly at: number
  readonly length: number
}

/** The id of a row of `trie_layer_parts` is this times that of its layer, plus its ordinal in the layer. */
export const MOST_PARTS = 2 ** 20

// Number of patches of a page after which its whole content is written. At most one row more is read.
const MOST_PATCHES = 16

const PATCH = ENTRY_KINDS.indexOf('patch')
const NONE = -1

/** Finds the entries of a page in layers, which are added in ascending order and removed from either end. About 30
 *  bytes for an entry, and 40 for each page. Page ids are below 2^32. */
export class LayerIndex {
  #layers: (IndexedLayer & { readonly firstEntry: number })[] = []
  /** The newest entry of each page. */
  readonly #newest = new Map<number, number>()
  #count = 0
  #pages = new Uint32Array(0)
  #earlier = new Int32Array(0) // the entry of the page before this one
  #owner = new Int32Array(0) // the layer, in `#layers`
  #ordinals = new Uint32Array(0) // of the part in its layer
  #offsets = new Uint16Array(0)
  #lengths = new Uint32Array(0)
  #kinds = new Uint8Array(0)
  /** How many patches follow the last whole content, with this one. */
  #patches = new Uint8Array(0)

  get layers(): readonly IndexedLayer[] {
    return this.#layers
  }

  /** Adds a layer, above all others. */
  addLayer({ id, block, parts }: IndexedLayer): void {
    this.#layers.push({ id, block, parts, firstEntry: this.#count })
  }

  /** Adds an entry to the newest layer. */
  addEntry(page: number, { kind, part, at, length }: EntryPlace): void {
    const entry = this.#count++
    if (entry === this.#pages.length) this.#grow()
    const earlier = this.#newest.get(page) ?? NONE
    const code = ENTRY_KINDS.indexOf(kind)
    this.#pages[entry] = page
    this.#earlier[entry] = earlier
    this.#owner[entry] = this.#layers.length - 1
    this.#ordinals[entry] = part - this.#layers[this.#layers.length - 1].id * MOST_PARTS
    this.#offsets[entry] = at
    this.#lengths[entry] = length
    this.#kinds[entry] = code
    this.#patches[entry] = code === PATCH ? 1 + (earlier === NONE ? 0 : this.#patches[earlier]) : 0
    this.#newest.set(page, entry)
  }

  /** True if the next content of the page is to be written whole. */
  isWholeDue(page: number): boolean {
    const newest = this.#newest.get(page)
    return newest !== undefined && this.#patches[newest] >= MOST_PATCHES
  }

  /** Removes the newest layers, down to `length` of them. */
  truncate(length: number): void {
    if (length >= this.#layers.length) return
    const { firstEntry } = this.#layers[length]
    for (let entry = this.#count - 1; entry >= firstEntry; entry--) {
      const earlier = this.#earlier[entry]
      if (earlier === NONE) this.#newest.delete(this.#pages[entry])
      else this.#newest.set(this.#pages[entry], earlier)
    }
    this.#count = firstEntry
    this.#layers.length = length
  }

  /** Returns the entries of a page in layers of blocks (above, upTo], newest first, down to the first that says its
   *  whole content. */
  entriesOf(page: number, above: number, upTo: number): EntryPlace[] {
    const found: EntryPlace[] = []
    let entry = this.#newest.get(page) ?? NONE
    for (; entry !== NONE && this.#blockOf(entry) > upTo; entry = this.#earlier[entry]);
    for (; entry !== NONE && this.#blockOf(entry) > above; entry = this.#earlier[entry]) {
      const kind = ENTRY_KINDS[this.#kinds[entry]]
      const part = this.#layers[this.#owner[entry]].id * MOST_PARTS + this.#ordinals[entry]
      found.push({ kind, part, at: this.#offsets[entry], length: this.#lengths[entry] })
      if (kind !== 'patch') break
    }
    return found
  }

  /** Returns the pages with entries in layers of blocks up to `upTo`, ascending. */
  pagesUpTo(upTo: number): Uint32Array {
    const first = this.#layers.findIndex(({ block }) => block > upTo)
    const end = first < 0 ? this.#count : this.#layers[first].firstEntry
    const pages = new Set<number>()
    for (let entry = 0; entry < end; entry++) pages.add(this.#pages[entry])
    return Uint32Array.from(pages).sort()
  }

  /** Returns the pages with entries in a layer. */
  pagesOf(layer: number): Uint32Array {
    const end = this.#layers[layer + 1]?.firstEntry ?? this.#count
    return this.#pages.slice(this.#layers[layer].firstEntry, end)
  }

  #blockOf(entry: number): number {
    return this.#layers[this.#owner[entry]].block
  }

  #grow(): void {
    const room = Math.max(1024, Math.ceil(1.5 * this.#pages.length))
    this.#pages = grown(this.#pages, new Uint32Array(room))
    this.#earlier = grown(this.#earlier, new Int32Array(room))
    this.#owner = grown(this.#owner, new Int32Array(room))
    this.#ordinals = grown(this.#ordinals, new Uint32Array(room))
    this.#offsets = grown(this.#offsets, new Uint16Array(room))
    this.#lengths = grown(this.#lengths, new Uint32Array(room))
    this.#kinds = grown(this.#kinds, new Uint8Array(room))
    this.#patches = grown(this.#patches, new Uint8Array(room))
  }
}

function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from)
  return to
}
