import { closeSync, copyFileSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE, openForReading } from '../../../src/store/open.js'
import type { SeededRandom } from '../random.js'

/** One byte of a database file that is to be changed. */
export interface Corruption {
  /** The table or index that the page is of. */
  of: string
  page: number
  offset: number // in the file
  mask: number // 1 to 255
}

// Zeros around it: room in a page that nothing lies in.
const EMPTY_AROUND = 8

/** Bytes at seeded places where something lies: each table and index gets the same share, whatever its size. */
export function chooseCorruptions(datadir: string, random: SeededRandom, count: number): Corruption[] {
  const db = openForReading(datadir)
  const pageSize = db.pragma('page_size', { simple: true }) as number
  const pages = db.prepare<[], { name: string; pageno: number }>('SELECT name, pageno FROM dbstat').all()
  db.close()
  const names = [...new Set(pages.map(({ name }) => name))]
  const bytes = readFileSync(join(datadir, DATABASE_FILE))
  const isEmpty = (at: number) =>
    bytes.subarray(Math.max(0, at - EMPTY_AROUND), at + EMPTY_AROUND).every((b) => b === 0)
  const choose = (): Corruption => {
    const of = names[random.below(names.length)]
    const own = pages.filter(({ name }) => name === of)
    const page = own[random.below(own.length)].pageno
    const offset = (page - 1) * pageSize + random.below(pageSize)
    return isEmpty(offset) ? choose() : { of, page, offset, mask: 1 + random.below(255) }
  }
  return Array.from({ length: count }, choose)
}

/** Makes `into` a copy of the database of `from` with the byte changed. */
export function corrupt(from: string, into: string, { offset, mask }: Corruption): void {
  const path = join(into, DATABASE_FILE)
  copyFileSync(join(from, DATABASE_FILE), path)
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, offset)
  byte[0] ^= mask
  writeSync(file, byte, 0, 1, offset)
  closeSync(file)
}
