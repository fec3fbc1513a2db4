import { UsageError } from '../../lib/errors.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../../store/meta.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import type { StoredBlock } from '../../store/rows/types.js'
import { readStateFirst } from '../../store/state/sparseState.js'
import { beginWriting, commitWriting, rollbackWriting } from '../../store/writeTransaction.js'
import type { StateMode } from '../chainState.js'
import { beginSparseState, canBeginSparse } from './beginState.js'

/** Raises a database without state to sparse state, which begins at its newest block: later blocks are executed. One
 *  transaction. The database must be open for writing, and no chain open on it.
 *  @returns the newest block
 *  @throws UsageError for an empty database, one with state, or a newest block before Cancun or without a state root */
export function upgradeState(db: Database): StoredBlock {
  beginWriting(db)
  try {
    const block = requireUpgradable(db)
    createMetaTable(db).set(META_STATE_MODE, 'sparse' satisfies StateMode)
    beginSparseState(db, block)
    commitWriting(db)
    return block
  } catch (error) {
    rollbackWriting(db)
    throw error
  }
}

function requireUpgradable(db: Database): StoredBlock {
  const chain = createChainReader(db)
  const number = chain.head()
  if (number === undefined) {
    throw new UsageError("the database has no block; 'cairn serve --state sparse --upstream URL' begins a new one")
  }
  const mode = createMetaTable(db).get<StateMode>(META_STATE_MODE)
  if (mode === 'sparse') {
    throw new UsageError(`the database has sparse state already, from block ${readStateFirst(db)} on`)
  }
  if (mode !== 'none') {
    throw new UsageError(
      `the database was begun with --state ${mode}; only one that was begun with --state none can be raised to sparse state`,
    )
  }
  const block = chain.blockByNumber(number)!
  if (!canBeginSparse(chain.spec(), block.header)) {
    throw new UsageError(
      `the newest block, ${number}, is before Cancun, where sparse state cannot begin; follow the chain past Cancun with --state none first`,
    )
  }
  if (!chain.commitsToState(number)) {
    throw new UsageError(
      `the state root of block ${number} is not that of its state; sparse state needs one to prove values`,
    )
  }
  return block
}
