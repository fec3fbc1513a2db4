import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'
import { createMetaTable, META_STATE_FIRST, META_STATE_MODE } from '../meta.js'

/* Sparse state: the database knows the accounts and slots that it needed so far. Each of them has a base row, at block
 * `META_STATE_FIRST`: its value before any later change. A key without a row is unknown. An account that has no storage
 * at that block, or does not exist, has incarnation 1 there: slots of incarnation 0 are unknown until they have a base
 * row, those of later incarnations are known. */

/** Incarnation of an account whose storage at the first block with state may have slots without rows. */
export const UNKNOWN_STORAGE = 0
/** Incarnation of an account without storage at the first block with state. */
export const KNOWN_STORAGE = 1

/** All accounts, or all slots of an account, were asked for, and only a part is known. */
export class StateNotListable extends CairnError {
  constructor() {
    super('the state cannot be listed: with --state sparse only accounts and slots that were needed are known')
  }
}

/** Returns whether keys without rows are unknown. Reads the mode until the database has one: it never changes from or
 *  to sparse while there is state. */
export function createSparseCheck(db: Database): () => boolean {
  const meta = createMetaTable(db)
  let isSparse: boolean | undefined
  return () => {
    if (isSparse !== undefined) return isSparse
    const mode = meta.get<string>(META_STATE_MODE)
    if (mode === 'execute' || mode === 'sparse') isSparse = mode === 'sparse'
    return isSparse ?? false
  }
}

/** Returns the first block with state of a database with sparse state; undefined before there is one. */
export function readStateFirst(db: Database): number | undefined {
  return createMetaTable(db).get<number>(META_STATE_FIRST)
}
