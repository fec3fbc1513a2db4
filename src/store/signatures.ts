import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Database } from './database.js'
import { writeSeal } from './seals.js'

/** Functions and errors share selectors of 4 bytes; events have topics of 32 bytes. */
export type SignatureKind = 'function' | 'event'

const KINDS = { function: 0, event: 1 } as const

/** A file of signatures that the operator added. */
export interface SignatureSet {
  readonly id: number
  readonly name: string
  /** Number of its signatures of functions and errors. */
  readonly functions: number
  readonly events: number
  readonly addedAt: number // Unix seconds
}

/** Signatures of one kind with their keys, the first 4 bytes of their hashes as numbers; sorted by key. */
export interface SortedSignatures {
  readonly keys: ArrayLike<number>
  /** ASCII without line feeds. */
  readonly texts: readonly string[]
}

/** Reads added signatures. */
export interface SignatureReader {
  /** Oldest first. */
  list(): SignatureSet[]
  /** Changes when a set is added or removed. */
  version(): string
  /** Pages that may contain the signatures of a key, one of each set, oldest set first; `id` is unique. */
  pages(kind: SignatureKind, key: number): { readonly id: string; readonly data: Uint8Array }[]
}

/** Reads and changes added signatures. */
export interface SignatureTable extends SignatureReader {
  /** Adds a set, replacing one with the same name. Returns its id. */
  add(name: string, signatures: { readonly [K in SignatureKind]: SortedSignatures }): number
  /** False when no set has that id. */
  remove(id: number): boolean
}

/** Text of a page before compression: small enough to hash all of it for one look-up, large enough to compress. */
const PAGE_CHARACTERS = 16_384

/** Longest text that is inflated. A page ends with the last signature of a key, and a file has at most 64 of one
 *  key. */
const MAX_PAGE_CHARACTERS = 1_048_576

/** Frequent texts, the most frequent last; they halve small pages. */
const DICTIONARY = Buffer.from(
  'initialize(transferFrom(withdraw(deposit(uint256[])\n(address,uint256,bytes)\n,bytes4,bytes[],uint256[],string,bool)\n' +
    ',uint8,bytes32,bytes32)\n,uint64,uint128,int256,uint32,bytes32)\n,string)\n,bytes)\n()\n(address,address,uint256)\n(uint256,uint256)\n(address,uint256)\n(address)\n(uint256)\n',
)

interface Row {
  id: number
  name: string
  functions: number
  events: number
  added_at: number
}

/** A reader of an open connection. */
export function readSignatures(db: Database): SignatureReader {
  const select = db.prepare<[], Row>('SELECT id, name, functions, events, added_at FROM signature_sets ORDER BY id')
  const selectIds = db.prepare<[], number>('SELECT id FROM signature_sets ORDER BY id').pluck()
  // Ids are never used twice.
  const selectVersion = db
    .prepare<[], string>("SELECT ifnull(max(id), 0) || ' ' || count(*) FROM signature_sets")
    .pluck()
  const selectPage = db.prepare<[number, number, number], { first_key: number; data: Uint8Array }>(
    `SELECT first_key, data FROM signature_pages WHERE set_id = ? AND kind = ? AND first_key <= ?
     ORDER BY first_key DESC LIMIT 1`,
  )
  return {
    list: () => select.all().map(({ added_at: addedAt, ...row }) => ({ ...row, addedAt })),
    version: () => selectVersion.get()!,
    pages: (kind, key) =>
      selectIds.all().flatMap((id) => {
        const page = selectPage.get(id, KINDS[kind], key)
        return page === undefined ? [] : [{ id: `${id} ${KINDS[kind]} ${page.first_key}`, data: page.data }]
      }),
  }
}

/** Accesses the signatures of a database opened for writing. */
export function createSignatureTable(db: Database): SignatureTable {
  const deleteSet = (id: number) => {
    db.prepare('DELETE FROM signature_pages WHERE set_id = ?').run(id)
    return db.prepare('DELETE FROM signature_sets WHERE id = ?').run(id).changes > 0
  }
  const change = <T>(work: () => T): T =>
    db
      .transaction(() => {
        const result = work()
        writeSeal(db, 'signature_sets')
        writeSeal(db, 'signature_pages')
        return result
      })
      .immediate()
  return {
    ...readSignatures(db),
    add(name, signatures) {
      const pages = (['function', 'event'] as const).flatMap((kind) =>
        encodePages(signatures[kind]).map((page) => ({ ...page, kind: KINDS[kind] })),
      )
      return change(() => {
        for (const id of db.prepare('SELECT id FROM signature_sets WHERE name = ?').pluck().all(name)) {
          deleteSet(id as number)
        }
        const counts = [signatures.function.texts.length, signatures.event.texts.length]
        const { lastInsertRowid } = db
          .prepare('INSERT INTO signature_sets (name, functions, events, added_at) VALUES (?, ?, ?, ?)')
          .run(name, ...counts, Math.floor(Date.now() / 1000))
        const insert = db.prepare('INSERT INTO signature_pages (set_id, kind, first_key, data) VALUES (?, ?, ?, ?)')
        for (const { kind, firstKey, data } of pages) insert.run(lastInsertRowid, kind, firstKey, data)
        return Number(lastInsertRowid)
      })
    },
    remove: (id) => change(() => deleteSet(id)),
  }
}

/** Packs the signatures into pages. The signatures of a key are in one page. */
function encodePages({ keys, texts }: SortedSignatures): { firstKey: number; data: Buffer }[] {
  const pages: { firstKey: number; data: Buffer }[] = []
  let lines: string[] = []
  let characters = 0
  let first = 0
  for (let i = 0; i <= texts.length; i++) {
    const isFull = characters >= PAGE_CHARACTERS && keys[i] !== keys[i - 1]
    if (lines.length > 0 && (i === texts.length || isFull)) {
      const options = { level: constants.Z_BEST_COMPRESSION, dictionary: DICTIONARY }
      pages.push({ firstKey: keys[first], data: deflateRawSync(lines.join(''), options) })
      lines = []
      characters = 0
      first = i
    }
    if (i === texts.length) break
    lines.push(`${texts[i]}\n`)
    characters += texts[i].length + 1
  }
  return pages
}

/** Returns the signatures of a page; none if it is damaged. */
export function decodeSignaturePage(data: Uint8Array): string[] {
  try {
    const options = { dictionary: DICTIONARY, maxOutputLength: MAX_PAGE_CHARACTERS }
    return inflateRawSync(data, options).toString('latin1').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
