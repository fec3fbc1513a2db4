import type { ChainReader } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'

// Enough entries for doubling steps to reach any genesis.
const LOCATOR_ENTRIES = 32

/** Returns blocks of the chain, newest first: `dense` consecutive blocks, then each twice as far back as the one
 *  before. The first stored block is the last of them. */
export function createLocator(reader: ChainReader, dense = 1): BlockRef[] {
  const coverage = reader.coverage()
  if (coverage === undefined) return []
  const { first, head } = coverage
  const numbers: number[] = []
  for (let back = 0, step = 1; head - back > first && numbers.length < dense + LOCATOR_ENTRIES; back += step) {
    numbers.push(head - back)
    if (numbers.length > dense) step *= 2
  }
  return [...numbers, first].map((number) => ({ number, hash: reader.blockHash(number)! }))
}
