import type { Database } from '../store/database.js'
import { createRawRows } from '../store/rows/rawRows.js'
import { createRemovedBlocks, KEPT_BLOCKS, type RemovedBlock } from '../store/rows/removedBlocks.js'
import { atPlace, DatabaseFault, type FaultPlace } from './fault.js'
import { isStoredAs } from './rowComparison.js'

const TABLE = 'removed_blocks'
const HASH_BYTES = 32

/** Checks the blocks that reorgs and rewinds removed: ids without a gap, links, and logs. Their hashes cannot be
 *  recomputed, because their headers are not kept. @returns their number. @throws DatabaseFault */
export function auditRemovedBlocks(db: Database): number {
  const removed = atPlace({ table: TABLE }, () => createRemovedBlocks(db))
  const blocks = atPlace(
    { table: TABLE },
    db.transaction(() => requireLinks(db, removed.after(Number.MIN_SAFE_INTEGER))),
  )
  for (const block of blocks) {
    const place = placeOf(block)
    atPlace(place, () => {
      removed.logs(block) // undefined: dropped since
    })
  }
  return blocks.length
}

function placeOf({ id }: RemovedBlock): FaultPlace {
  return { table: TABLE, row: `row ${id}` }
}

/** The highest block of a removal comes first, so the parent of each is the next one, unless the next one began another
 *  removal: then it is the parent that stayed, which a later removal may have removed. */
function requireLinks(db: Database, blocks: readonly RemovedBlock[]): readonly RemovedBlock[] {
  const rows = createRawRows(db)
  const first = rows.range()?.first ?? Number.POSITIVE_INFINITY
  if (blocks.length > KEPT_BLOCKS) {
    const counts = { expected: `at most ${KEPT_BLOCKS}`, found: blocks.length }
    throw new DatabaseFault({ table: TABLE }, { field: 'rows', ...counts })
  }
  let next: RemovedBlock | undefined
  let lowest = Number.POSITIVE_INFINITY
  for (const block of blocks.toReversed()) {
    const place = placeOf(block)
    const requireSame = (field: string, expected: unknown, found: Uint8Array | number) => {
      if (!isStoredAs(found, expected)) throw new DatabaseFault(place, { field, expected, found })
    }
    if (next !== undefined) requireSame('id', next.id - 1, block.id)
    for (const [field, found] of [['hash', block.hash] as const, ['parent_hash', block.parentHash] as const]) {
      if (found instanceof Uint8Array && found.length === HASH_BYTES) continue
      throw new DatabaseFault(place, { field, expected: `${HASH_BYTES} bytes`, found })
    }
    if (next?.number === block.number - 1) requireSame('parent_hash', next.hash, block.parentHash)
    else if (block.number <= lowest && block.number > first) {
      requireSame('parent_hash', rows.block(block.number - 1)?.hash ?? null, block.parentHash)
    }
    next = block
    lowest = Math.min(lowest, block.number)
  }
  return blocks
}
