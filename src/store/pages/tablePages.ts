import { readSync } from 'node:fs'
import type { IdRange } from '../rows/rowFilter.js'
import type { WalPages } from './walPages.js'

/* Pages of a table's B-tree (https://sqlite.org/fileformat2.html#b_tree_pages). */
const INTERIOR = 5
const LEAF = 13
const INTERIOR_HEADER = 12
/** A cell of an interior page: a page number and an id of at least a byte. */
const MIN_INTERIOR_CELL = 5
// A tree of 4 KiB pages with 2^63 rows has 9.
const MAX_LEVELS = 12

/** Layout of the pages of a database file. */
export interface PageLayout {
  readonly pageBytes: number
  /** The part of a page that has content. */
  readonly usableBytes: number
}

/** Returns the layout in the header of a database file; undefined if it is none of SQLite's. */
export function readPageLayout(file: number): PageLayout | undefined {
  const header = Buffer.alloc(100)
  if (readSync(file, header, 0, 100, 0) !== 100) return undefined
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') return undefined
  const stored = header.readUInt16BE(16)
  const pageBytes = stored === 1 ? 65_536 : stored
  return { pageBytes, usableBytes: pageBytes - header[20] }
}

/** Reads pages of a table from a database file. */
export class TablePages {
  readonly #file: number
  readonly #layout: PageLayout
  readonly #wal: WalPages
  readonly #buffers: Buffer[] = []
  #hasReadLog = false

  constructor(file: number, layout: PageLayout, wal: WalPages) {
    this.#file = file
    this.#layout = layout
    this.#wal = wal
  }

  /** Numbers of the leaf pages with ids of the range, in order. Undefined if there are more than `most`, if one is in
   *  the log, or if a page is none of a table. Call it after `update` of the log. */
  findLeaves(root: number, range: IdRange, most: number): number[] | undefined {
    const leaves: number[] = []
    this.#hasReadLog = false
    const found = this.#search(root, { range, most, leaves, level: 0 })
    if (found === undefined || (this.#hasReadLog && !this.#wal.isSameLog())) return undefined
    return leaves
  }

  /** Reads pages one after the other into `to`. False if the file ends before. */
  read(pages: readonly number[], to: Uint8Array): boolean {
    const { pageBytes } = this.#layout
    for (let first = 0; first < pages.length; ) {
      let end = first + 1
      while (end < pages.length && pages[end] === pages[end - 1] + 1) end++
      const length = (end - first) * pageBytes
      const position = (pages[first] - 1) * pageBytes
      if (readSync(this.#file, to, first * pageBytes, length, position) !== length) return false
      first = end
    }
    return true
  }

  /** Adds the leaves below a page. Returns whether the page is a leaf. */
  #search(
    page: number,
    search: { range: IdRange; most: number; leaves: number[]; level: number },
  ): 'leaf' | 'interior' | undefined {
    const { range, most, leaves, level } = search
    const content = level < MAX_LEVELS ? this.#readPage(page, level) : undefined
    if (content?.[0] === LEAF) {
      if (this.#wal.has(page)) return undefined
      leaves.push(page)
      return 'leaf'
    }
    if (content?.[0] !== INTERIOR) return undefined
    const children = this.#childrenOf(content, range)
    if (children === undefined) return undefined
    let areLeaves = false
    for (const child of children) {
      if (leaves.length >= most) return undefined
      // All leaves have the same depth.
      if (areLeaves) {
        if (this.#wal.has(child)) return undefined
        leaves.push(child)
      } else {
        const kind = this.#search(child, { ...search, level: level + 1 })
        if (kind === undefined) return undefined
        areLeaves = kind === 'leaf'
      }
    }
    return 'interior'
  }

  #readPage(page: number, level: number): Buffer | undefined {
    // The first page, which begins with the header of the file, is no page of a table with rows.
    if (page < 2) return undefined
    this.#buffers[level] ??= Buffer.alloc(this.#layout.pageBytes)
    const content = this.#buffers[level]
    if (!this.#wal.has(page)) return this.read([page], content) ? content : undefined
    this.#hasReadLog = true
    const newest = this.#wal.readNewest(page)
    if (newest === undefined) return undefined
    content.set(newest)
    return content
  }

  /** The children of an interior page with ids of the range. Undefined if the page is damaged. */
  #childrenOf(content: Buffer, { from, to }: IdRange): number[] | undefined {
    const { usableBytes } = this.#layout
    const count = content.readUInt16BE(3)
    const cellsAt = INTERIOR_HEADER + 2 * count
    if (cellsAt > usableBytes) return undefined
    const children: number[] = []
    const cell = (i: number) => content.readUInt16BE(INTERIOR_HEADER + 2 * i)
    for (let i = 0; i < count; i++) {
      if (cell(i) < cellsAt || cell(i) + MIN_INTERIOR_CELL > usableBytes) return undefined
    }
    let [first, end] = [0, count]
    while (first < end) {
      const middle = (first + end) >> 1
      if (readId(content, cell(middle) + 4) < from) first = middle + 1
      else end = middle
    }
    for (let i = first; i < count; i++) {
      children.push(content.readUInt32BE(cell(i)))
      if (readId(content, cell(i) + 4) >= to - 1) return children
    }
    children.push(content.readUInt32BE(8))
    return children
  }
}

/** Reads a variable-length integer of up to 8 bytes; ids are below 2^53. Bytes beyond the page are 0. */
function readId(content: Buffer, at: number): number {
  let id = 0
  for (let i = 0; i < 8; i++) {
    const byte = content[at + i] ?? 0
    id = id * 128 + (byte & 127)
    if (byte < 128) return id
  }
  return Number.POSITIVE_INFINITY
}
