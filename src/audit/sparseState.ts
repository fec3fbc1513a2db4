import { toTouched } from '../evm/transition/blockExecutor.js'
import { equalBytes } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createRawState } from '../store/state/rawState.js'
import { readStateFirst } from '../store/state/sparseState.js'
import { readStateDump } from '../store/state/stateDump.js'
import { createStateReader } from '../store/state/stateReader.js'
import { createStateTrieTable } from '../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../store/state/touchedAbove.js'
import { createTrieHistory } from '../store/state/trieHistory.js'
import { canBeginSparse } from '../sync/sparse/beginState.js'
import { MissingTrieNode, MissingTrieNodes } from '../trie/missingNodes.js'
import { createStateRoot } from '../trie/stateRoot.js'
import { findTrieBlock } from '../trie/trieBlock.js'
import { atPlace, DatabaseFault } from './fault.js'
import { auditCodes } from './state.js'
import { auditStateDump } from './stateDump.js'

/** Summary of audited sparse state. */
export interface SparseStateAudit {
  /** Blocks whose state root was recomputed from the rows. */
  blocks: number
  codes: number
  /** Changed accounts and slots. */
  rows: number
  /** Blocks that were not audited, since the trie lacks nodes of that time: it was begun again after them, or a block
   *  before Cancun removed a storage that is known in part. */
  unaudited: number
  /** Accounts and slots of the state dump, whose root was recomputed; undefined without one. */
  dump?: { accounts: number; slots: number }
}

const TRIE_BYTES = 256 * 2 ** 20
const HISTORY = { table: 'account_history and storage_history' }

/** Unwinds the stored trie of the newest block by the rows, block by block down to the first block with state, and
 *  compares each state root with its header; checks that every key that a block changed has a base row, and code by its
 *  hash. One snapshot. @throws DatabaseFault for the first difference */
export function auditSparseState(db: Database, onProgress?: (blocks: number) => void): SparseStateAudit {
  const codes = auditCodes(createRawState(db))
  return db.transaction(() => ({ codes, dump: auditStateDump(db), ...unwindAll(db, onProgress) }))()
}

function unwindAll(
  db: Database,
  onProgress: ((blocks: number) => void) | undefined,
): Omit<SparseStateAudit, 'codes' | 'dump'> {
  const done = { blocks: 0, rows: 0, unaudited: 0 }
  const first = readStateFirst(db)
  const chain = createChainReader(db)
  const head = findTrieBlock(createStateTrieTable(db), chain)?.number
  if (first === undefined || head === undefined) return done
  // What the state dump has needs no base rows.
  if (readStateDump(db)?.number !== first) requireBaseRows(db, first)
  const touchedAbove = createTouchedAbove(db, createStateReader(db))
  const root = createStateRoot(createTrieHistory(db).at(head, head), TRIE_BYTES)
  for (let number = head; number > first; number--) {
    const row = `block ${number}`
    try {
      atPlace({ ...HISTORY, row }, () => {
        const changed = touchedAbove.take({ above: number - 1, upTo: number })
        const restored = changed.map((each) => touchedAbove.restored(each, number - 1))
        if (
          restored.some(({ cleared }) => cleared) &&
          !canBeginSparse(chain.spec(), chain.blockByNumber(number)!.header)
        )
          throw new StorageRemoved()
        const computed = root.update(restored.map(toTouched))
        root.commit()
        const expected = chain.blockByNumber(number - 1)!.header.stateRoot
        if (!equalBytes(computed, expected)) {
          throw new DatabaseFault({ ...HISTORY, row }, { field: 'state root before it', expected, found: computed })
        }
        done.rows += changed.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
      })
    } catch (error) {
      if (![MissingTrieNode, MissingTrieNodes, StorageRemoved].some((each) => error instanceof each)) throw error
      done.unaudited = number - first
      return done
    }
    done.blocks++
    onProgress?.(done.blocks)
  }
  return done
}

/** A block before Cancun removed the storage of an account that is known in part (EIP-6780). */
class StorageRemoved extends UsageError {
  constructor() {
    super('the storage that the block removed is not known as a whole')
  }
}

/** Requires that the first row of every key of a storage that existed before the first block is its base row. */
function requireBaseRows(db: Database, first: number): void {
  const found = createRawState(db).withoutBase(first)
  if (found === undefined) return
  const { table, addressId, blockNumber } = found
  const place = { table, row: `block ${blockNumber}, address ${addressId}` }
  throw new DatabaseFault(place, { field: 'first block_number of its key', expected: first, found: blockNumber })
}
