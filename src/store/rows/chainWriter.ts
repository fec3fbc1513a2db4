import { keccak256 } from '../../chain/crypto.js'
import { encodeHeader } from '../../chain/eth/header.js'
import type { Block, Receipt } from '../../chain/eth/types.js'
import type { Database } from '../database.js'
import { StateLog } from '../replication/stateLog.js'
import { removeHistoryAbove } from '../state/removeHistory.js'
import { BLOCK_COLUMNS, blockValues } from './block.js'
import { createBodyInserts, type FirstIds } from './bodyInserts.js'
import type { PackedChanges } from './packedChanges.js'
import { keepRemovedBlocks } from './removedBlocks.js'
import type { StateChanges } from './stateChanges.js'
import { createStateInserts, type StateInserts } from './stateInserts.js'

/** Writes Ethereum blocks. The caller begins and ends transactions, of several blocks each. */
export interface ChainWriter
  extends Pick<StateInserts, 'insertBase' | 'putEntry' | 'recentBlocks' | 'isMoveDue' | 'moveRecent'> {
  begin(): void
  commit(): void
  /** Rolls back everything since `begin`. */
  rollback(): void
  /** Sets a savepoint for `rollbackToMark`. Replaces an earlier one. */
  mark(): void
  /** Rolls back everything since the savepoint and releases it. */
  rollbackToMark(): void
  readonly inTransaction: boolean
  /** Appends a block and all its parts to the head. The caller has verified all of it. `isAtTip`: as
   *  `StateInserts.insert`. */
  insertBlock(
    block: Block,
    receipts: Receipt[],
    totalDifficulty: bigint,
    changes?: StateChanges | PackedChanges,
    options?: { isAtTip?: boolean },
  ): void
  /** Writes the collected rows of the state. Call it before reading them in the transaction; `commit` and `mark` do. */
  flush(): void
  /** Stores the access list of a block, RLP (EIP-7928). */
  insertBlockAccessList(blockNumber: number, list: Uint8Array): void
  /** Removes all blocks above `number` and their state; the newest of them are kept in `removed_blocks`.
   *  @returns a function that removes what was added to sparse state above it, once the state is unwound */
  rewindTo(number: number): () => void
}

/** Hooks for the end of transactions, and how rows are written. */
interface WriterOptions {
  /** Collects rows of the state from several blocks, and writes them in the order of their keys. Default: false. */
  collectsState?: boolean
  /** Keeps what is added to sparse state for replicas. Default: false. */
  logsState?: boolean
  /** Called before each commit; may write as part of the transaction. */
  beforeCommit?(): void
  /** Called after a rollback of a whole transaction. */
  afterRollback?(): void
}

/** Creates a writer over a database opened for writing. */
export function createChainWriter(db: Database, options: WriterOptions = {}): ChainWriter {
  const control = {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    mark: db.prepare('SAVEPOINT cairn_mark'),
    rollbackToMark: db.prepare('ROLLBACK TO cairn_mark'),
    release: db.prepare('RELEASE cairn_mark'),
  }
  let marked = false
  const insertHeader = createBlockInserts(db)
  const bodies = createBodyInserts(db)
  const insertAccessList = db.prepare('INSERT INTO block_access_lists (block_number, list) VALUES (?, ?)')
  const state = createStateInserts(db, { collects: options.collectsState, logsState: options.logsState })
  let nextIds: FirstIds | undefined
  const selectNextIds = db.prepare<[], FirstIds>(
    'SELECT first_tx + n_tx AS tx, first_log + n_logs AS log FROM blocks ORDER BY number DESC LIMIT 1',
  )
  // Cached ids may belong to removed rows.
  const clear = () => {
    nextIds = undefined
    bodies.clear()
    state.clear()
  }
  return {
    begin: () => void control.begin.run(),
    commit: () => {
      state.flush()
      options.beforeCommit?.()
      control.commit.run()
      marked = false
    },
    rollback: () => {
      if (db.inTransaction) control.rollback.run() // a full disk makes SQLite roll back by itself
      marked = false
      clear()
      options.afterRollback?.()
    },
    mark: () => {
      state.flush()
      if (marked) control.release.run()
      control.mark.run()
      marked = true
    },
    rollbackToMark: () => {
      control.rollbackToMark.run()
      control.release.run()
      marked = false
      clear()
    },
    get inTransaction() {
      return db.inTransaction
    },
    insertBlock: (block, receipts, totalDifficulty, changes, { isAtTip } = {}) => {
      nextIds ??= selectNextIds.get() ?? { tx: 0, log: 0 }
      const logCount = receipts.reduce((count, { logs }) => count + logs.length, 0)
      bodies.insert(block, receipts, nextIds)
      insertHeader(block, totalDifficulty, nextIds, logCount)
      nextIds = { tx: nextIds.tx + block.transactions.length, log: nextIds.log + logCount }
      if (changes) state.insert(block.header.number, changes, isAtTip)
    },
    insertBase: state.insertBase,
    putEntry: state.putEntry,
    flush: state.flush,
    recentBlocks: state.recentBlocks,
    isMoveDue: state.isMoveDue,
    moveRecent: state.moveRecent,
    insertBlockAccessList: (blockNumber, list) => void insertAccessList.run(blockNumber, list),
    rewindTo: (number) => {
      nextIds = undefined
      const removeEntries = new StateLog(db).planRemoval(number)
      removeAbove(db, number)
      return removeEntries
    },
  }
}

function createBlockInserts(db: Database) {
  const places = BLOCK_COLUMNS.map(() => '?').join(', ')
  const insertBlock = db.prepare(`INSERT INTO blocks (${BLOCK_COLUMNS.join(', ')}) VALUES (${places})`)
  const insertUncle = db.prepare('INSERT INTO uncles (block_number, idx, hash, header) VALUES (?, ?, ?, ?)')
  return (block: Block, totalDifficulty: bigint, first: FirstIds, logCount: number) => {
    block.uncles.forEach((uncle, index) => {
      const header = encodeHeader(uncle)
      insertUncle.run(block.header.number, index, keccak256(header), header)
    })
    insertBlock.run(...blockValues(block, totalDifficulty), first.tx, block.transactions.length, first.log, logCount)
  }
}

function removeAbove(db: Database, number: number): void {
  const first = db
    .prepare<[number], { first_tx: number; first_log: number }>(
      'SELECT first_tx, first_log FROM blocks WHERE number > ? ORDER BY number LIMIT 1',
    )
    .get(number)
  if (!first) return
  keepRemovedBlocks(db, number)
  db.prepare('DELETE FROM logs WHERE id >= ?').run(first.first_log)
  db.prepare('DELETE FROM receipts WHERE tx_id >= ?').run(first.first_tx)
  db.prepare('DELETE FROM transactions WHERE id >= ?').run(first.first_tx)
  db.prepare('DELETE FROM uncles WHERE block_number > ?').run(number)
  db.prepare('DELETE FROM block_access_lists WHERE block_number > ?').run(number)
  db.prepare('DELETE FROM address_appearances WHERE block_number > ?').run(number)
  db.prepare('DELETE FROM traces WHERE block_number > ?').run(number)
  removeHistoryAbove(db, number)
  db.prepare('DELETE FROM blocks WHERE number > ?').run(number)
}
