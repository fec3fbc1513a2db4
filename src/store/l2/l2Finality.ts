import { decodeFelt, type Felt } from '../../chain/starknet/felt.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import type { Database } from '../database.js'

/** Source that reports a block as accepted on layer 1: a file, an upstream of layer 2, or our own layer-1 logs. */
type L2FinalitySource = 'file' | 'upstream' | 'logs'

/** A state update that a layer-1 block logged. */
export interface StoredStateUpdate {
  readonly l1Block: number
  readonly logIndex: number
  readonly contract: Uint8Array // 20
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** A state update of another layer-2 block than the canonical one with that number. */
export interface L2Mismatch {
  readonly update: StoredStateUpdate
  /** Hash of the canonical block. */
  readonly canonicalHash: Felt
}

/** Tracks which layer-2 blocks layer 1 accepted. The newest of them is the highest one that a file or an upstream calls
 *  accepted (a claim), or the highest canonical one that a stored state update names, whichever is higher. Everything
 *  runs in the caller's transaction, or in one of its own. */
interface L2Finality {
  /** Stores a state update, unless it is stored. Call `advance` afterwards. */
  addUpdate(update: StoredStateUpdate): void
  /** Removes the state updates of the layer-1 blocks above `l1Block`. */
  removeUpdatesAbove(l1Block: number): void
  /** Call it after the canonical blocks from `from` to `to` changed: stored, orphaned or replaced. */
  blocksChanged(from: number, to: number): void
  /** Records a claim by a file or an upstream that layer 1 accepted the canonical block `number`. An upstream's claim
   *  does not count once layer 1 is followed here and state updates are stored. True if that raised the newest accepted
   *  block. */
  claim(number: number, source: 'file' | 'upstream'): boolean
  /** Recomputes and stores the newest accepted block. True if it changed. */
  advance(): boolean
}

interface UpdateRow extends StoredStateUpdate {
  readonly matches: number | null
  readonly canonical: Uint8Array | null
}

interface StateRow {
  number: number | null
  hash: Uint8Array | null
  source: L2FinalitySource | null
  claimed: number | null
  claimedSource: L2FinalitySource | null
}

/** Creates the tracker over a database opened for writing. `onMismatch` is called for each state update that names
 *  another block than the canonical one, when the later of the two is stored; the transaction may yet be rolled
 *  back. */
export function createL2Finality(
  db: Database,
  { onMismatch = () => {} }: { onMismatch?: (mismatch: L2Mismatch) => void } = {},
): L2Finality {
  const insert = db.prepare(
    'INSERT OR IGNORE INTO l2_state_updates (l1_block, log_index, contract, number, hash) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = db.prepare('DELETE FROM l2_state_updates WHERE l1_block > ?')
  const selectAny = db.prepare<[], number>('SELECT 1 FROM l2_state_updates LIMIT 1').pluck()
  const selectUpdates = db.prepare<[number, number], UpdateRow>(
    `SELECT u.l1_block AS l1Block, u.log_index AS logIndex, u.contract, u.number, u.hash, u.matches, b.hash AS canonical
     FROM l2_state_updates u LEFT JOIN l2_blocks b ON b.number = u.number AND b.canonical = 1
     WHERE u.number BETWEEN ? AND ?`,
  )
  const mark = db.prepare('UPDATE l2_state_updates SET matches = ? WHERE l1_block = ? AND log_index = ?')
  const selectMatching = db
    .prepare<[], number | null>('SELECT max(number) FROM l2_state_updates WHERE matches = 1')
    .pluck()
  const selectHash = db
    .prepare<[number], Uint8Array>('SELECT hash FROM l2_blocks WHERE canonical = 1 AND number = ?')
    .pluck()
  const selectState = db.prepare<[], StateRow>(
    `SELECT l1_head_number AS number, l1_head_hash AS hash, finality_source AS source, claimed_number AS claimed,
       claimed_source AS claimedSource FROM l2_state WHERE id = 1`,
  )
  const writeState = db.prepare(
    `INSERT INTO l2_state (id, l1_head_number, l1_head_hash, finality_source) VALUES (1, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET l1_head_number = excluded.l1_head_number, l1_head_hash = excluded.l1_head_hash,
       finality_source = excluded.finality_source`,
  )
  const removeState = db.prepare('DELETE FROM l2_state WHERE id = 1')
  const writeClaim = db.prepare(
    `INSERT INTO l2_state (id, claimed_number, claimed_source) VALUES (1, ?, ?)
     ON CONFLICT (id) DO UPDATE SET claimed_number = excluded.claimed_number, claimed_source = excluded.claimed_source
     WHERE claimed_number IS NULL OR claimed_number < excluded.claimed_number`,
  )

  /** Compares the updates of these blocks with the canonical blocks. @returns whether there are any */
  const compare = (from: number, to: number): boolean => {
    const updates = selectUpdates.all(from, to)
    for (const { canonical, matches: before, ...update } of updates) {
      const matches = canonical === null ? null : equalBytes(canonical, update.hash) ? 1 : 0
      if (matches === before) continue
      mark.run(matches, update.l1Block, update.logIndex)
      if (matches === 0) onMismatch({ update, canonicalHash: decodeFelt(canonical!) })
    }
    return updates.length > 0
  }
  const advance = db.transaction((): boolean => {
    const state = selectState.get()
    const [claimed, logged] = [state?.claimed ?? -1, selectMatching.get() ?? -1]
    const number = Math.max(claimed, logged)
    if (number < 0) return removeState.run().changes > 0
    const source = logged === number ? 'logs' : state!.claimedSource
    const hash = selectHash.get(number)
    const isSame = state?.number === number && equalBytes(state.hash ?? EMPTY_BYTES, hash ?? EMPTY_BYTES)
    if (isSame && state.source === source) return false
    writeState.run(number, hash ?? null, source)
    return !isSame
  })
  const claim = db.transaction((number: number, source: 'file' | 'upstream'): boolean => {
    if (source === 'upstream' && selectAny.get() !== undefined) return false
    return writeClaim.run(number, source).changes > 0 && advance()
  })
  const addUpdate = db.transaction(({ l1Block, logIndex, contract, number, hash }: StoredStateUpdate) => {
    insert.run(l1Block, logIndex, contract, number, hash)
    compare(number, number)
  })
  return {
    addUpdate: (update) => void addUpdate(update),
    removeUpdatesAbove: (l1Block) => {
      if (remove.run(l1Block).changes > 0) advance()
    },
    blocksChanged: (from, to) => {
      if (compare(from, to)) advance()
    },
    claim: (number, source) => claim(number, source),
    advance: () => advance(),
  }
}
