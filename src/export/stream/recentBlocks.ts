import { equalBytes } from '../../lib/bytes.js'
import type { ExportRows } from '../../store/rows/exportRows.js'
import type { RecentBlock } from './streamQuery.js'

/** Consecutive blocks; before them the distances double. */
const CONSECUTIVE = 32

/** Returns the stored blocks up to `last` that a client keeps to notice a reorg, ascending: the last ones, and earlier
 *  ones at doubling distances, and `first`. */
export function listRecent(rows: Pick<ExportRows, 'hashes'>, first: number, last: number): RecentBlock[] {
  const numbers: number[] = []
  for (let number = last, distance = 1; number >= first; number -= distance) {
    numbers.push(number)
    if (numbers.length >= CONSECUTIVE) distance *= 2
  }
  if (numbers.length === 0) return []
  return rows.hashes(numbers.at(-1) === first ? numbers : [...numbers, first])
}

/** Returns the first block to read again: undefined while all of `recent`, ascending, are canonical; `first` if none
 *  is. */
export function findFork(
  rows: Pick<ExportRows, 'hashes'>,
  recent: readonly RecentBlock[],
  first: number,
): number | undefined {
  if (recent.length === 0 || findCanonical(rows, recent.slice(-1)) !== undefined) return undefined
  const ancestor = findCanonical(rows, recent)
  return ancestor === undefined ? first : ancestor.number + 1
}

/** Returns the last of the blocks that is canonical. */
function findCanonical(rows: Pick<ExportRows, 'hashes'>, blocks: readonly RecentBlock[]): RecentBlock | undefined {
  const stored = new Map(rows.hashes(blocks.map(({ number }) => number)).map(({ number, hash }) => [number, hash]))
  return blocks.findLast(({ number, hash }) => {
    const now = stored.get(number)
    return now !== undefined && equalBytes(now, hash)
  })
}
