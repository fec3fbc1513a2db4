import { decodeFelt, encodeFelt, type Felt } from '../../chain/starknet/felt.js'
import { createDataVersion } from '../commitWatch.js'
import type { Database } from '../database.js'
import { createL2Reader, type StoredL2Block } from './l2Reader.js'

/** Number and hash of a layer-2 block. */
export interface L2Place {
  readonly number: number
  readonly hash: Felt
}

/** A new canonical block, or the blocks from `first` to `last` that a reorg removed. */
export type L2Change =
  | { readonly kind: 'added'; readonly block: StoredL2Block }
  | { readonly kind: 'removed'; readonly first: L2Place; readonly last: L2Place }

/** A change, and the newest block after it; undefined when none is left. */
interface L2Step {
  readonly change: L2Change
  readonly place: L2Place | undefined
}

/** Detects in the database how other connections changed the layer-2 chain. Reorgs leave the removed blocks in the
 *  database, so no change is missed, whatever the time since the last read. Blocks that were added and removed between
 *  two reads are left out, and so are blocks that fill a gap below. */
interface L2ChainFollower {
  /** A number that changes with each commit of another connection. */
  version(): number
  /** The newest canonical block. */
  head(): L2Place | undefined
  /** The newest canonical block below that number. */
  before(number: number): L2Place | undefined
  /** The first change on the way from `place`, a block that was canonical once (undefined: before all blocks), to the
   *  newest block; undefined when `place` is the newest block. */
  next(place: L2Place | undefined): L2Step | undefined
}

interface ParentRow {
  parent_hash: Uint8Array
  canonical: number
}

/** Creates a follower over a connection that only reads. */
export function createL2ChainFollower(db: Database): L2ChainFollower {
  const reader = createL2Reader(db)
  const selectParent = db.prepare<[Uint8Array], ParentRow>(
    'SELECT parent_hash, canonical FROM l2_blocks WHERE hash = ?',
  )
  const selectBelow = db.prepare<[number], { number: number; hash: Uint8Array }>(
    'SELECT number, hash FROM l2_blocks WHERE canonical = 1 AND number < ? ORDER BY number DESC LIMIT 1',
  )
  const selectAbove = db
    .prepare<[number], number>(
      'SELECT number FROM l2_blocks WHERE canonical = 1 AND number > ? ORDER BY number LIMIT 1',
    )
    .pluck()

  const before = (number: number): L2Place | undefined => {
    const row = selectBelow.get(number)
    return row && { number: row.number, hash: decodeFelt(row.hash) }
  }
  const removal = (last: L2Place, row: ParentRow | undefined): L2Step => {
    let first = last
    let parentHash = row?.parent_hash
    for (;;) {
      const parent = parentHash && selectParent.get(parentHash)
      if (parent === undefined || parent.canonical === 1) break
      first = { number: first.number - 1, hash: decodeFelt(parentHash!) }
      parentHash = parent.parent_hash
    }
    return { change: { kind: 'removed', first, last }, place: before(first.number) }
  }
  const next = db.transaction((place: L2Place | undefined): L2Step | undefined => {
    const row = place && selectParent.get(encodeFelt(place.hash))
    if (place !== undefined && row?.canonical !== 1) return removal(place, row)
    const number = selectAbove.get(place?.number ?? -1)
    if (number === undefined) return undefined
    const block = reader.blockByNumber(number)!
    return { change: { kind: 'added', block }, place: { number, hash: block.hash } }
  })
  return { version: createDataVersion(db), head: reader.head, before, next: (place) => next(place) }
}
