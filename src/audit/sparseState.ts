import { toTouched } from '../evm/transition/blockExecutor.js'
import { equalBytes } from '../lib/bytes.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { BlockInterval } from '../store/rows/coverage.js'
import { createRawState } from '../store/state/rawState.js'
import { readListedStates, readStateFirst } from '../store/state/sparseState.js'
import { readStateDump } from '../store/state/stateDump.js'
import { createStateReader } from '../store/state/stateReader.js'
import { createStateTrieTable } from '../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../store/state/touchedAbove.js'
import { createTrieHistory } from '../store/state/trieHistory.js'
import { canBeginSparse } from '../sync/sparse/beginState.js'
import { MissingTrieNode, MissingTrieNodes } from '../trie/missingNodes.js'
import { createStateRoot, type StateRoot } from '../trie/stateRoot.js'
import type { TouchedAccount } from '../trie/touchedAccount.js'
import { findTrieBlock } from '../trie/trieBlock.js'
import { atPlace, DatabaseFault } from './fault.js'
import { auditListedStates, type ListedAudit } from './listedStates.js'
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
  /** Blocks of the newest interval of states whose states come from access lists. */
  listed: number
  /** Those of them whose rows were compared with their stored access lists. */
  compared: number
}

const TRIE_BYTES = 256 * 2 ** 20
const HISTORY = { table: 'account_history and storage_history' }

/** Unwinds the stored trie of the newest block by the rows, block by block down to the first block with state, or to
 *  the last one whose state comes from its access list, and compares each state root with its header; compares the rows
 *  of blocks whose states come from access lists with those that are stored; checks that every key that a block changed
 *  has a base row, and code by its hash. One snapshot. @throws DatabaseFault for the first difference */
export function auditSparseState(db: Database, onProgress?: (blocks: number) => void): SparseStateAudit {
  const codes = auditCodes(createRawState(db))
  return db.transaction(() => ({ codes, dump: auditStateDump(db), ...unwindAll(db, onProgress) }))()
}

function unwindAll(
  db: Database,
  onProgress: ((blocks: number) => void) | undefined,
): Omit<SparseStateAudit, 'codes' | 'dump'> {
  const done = { blocks: 0, rows: 0, unaudited: 0, listed: 0, compared: 0 }
  const first = readStateFirst(db)
  const chain = createChainReader(db)
  const head = findTrieBlock(createStateTrieTable(db), chain)?.number
  if (first === undefined || head === undefined) return done
  const listed = readListedStates(db).filter((each) => each.first > first)
  // What the state dump has needs no base rows.
  if (readStateDump(db)?.number !== first) requireBaseRows(db, first, listed)
  for (const each of listed) addCounts(done, auditListedStates(db, each))
  const lowest = listed.at(-1)?.last ?? first
  const touchedAbove = createTouchedAbove(db, createStateReader(db))
  const root = createStateRoot(createTrieHistory(db).at(head, head), TRIE_BYTES)
  for (let number = head; number > lowest; number--) {
    const row = `block ${number}`
    const rows = atPlace({ ...HISTORY, row }, () => {
      const changed = touchedAbove.take({ above: number - 1, upTo: number })
      const restored = changed.map((each) => touchedAbove.restored(each, number - 1))
      // Before Cancun, a block may remove a storage that is known in part (EIP-6780).
      const mayRemove = !canBeginSparse(chain.spec(), chain.blockByNumber(number)!.header)
      if (mayRemove && restored.some(({ cleared }) => cleared)) return undefined
      const computed = rootAfter(root, restored.map(toTouched))
      if (computed === undefined) return undefined
      const expected = chain.blockByNumber(number - 1)!.header.stateRoot
      if (!equalBytes(computed, expected)) {
        throw new DatabaseFault({ ...HISTORY, row }, { field: 'state root before it', expected, found: computed })
      }
      return changed.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
    })
    if (rows === undefined) {
      done.unaudited = number - lowest
      return done
    }
    done.rows += rows
    done.blocks++
    onProgress?.(done.blocks)
  }
  return done
}

/** Returns the root after changes; undefined when the trie lacks nodes for them. */
function rootAfter(root: StateRoot, touched: readonly TouchedAccount[]): Uint8Array | undefined {
  try {
    const computed = root.update(touched)
    root.commit()
    return computed
  } catch (error) {
    if (error instanceof MissingTrieNode || error instanceof MissingTrieNodes) return undefined
    throw error
  }
}

function addCounts(to: { listed: number; compared: number }, { listed, compared }: ListedAudit): void {
  to.listed += listed
  to.compared += compared
}

/** Requires that the first row of every key of a storage that existed before the first block is its base row, or of a
 *  block whose state comes from its access list. */
function requireBaseRows(db: Database, first: number, listed: readonly BlockInterval[]): void {
  const found = createRawState(db).withoutBase(first, listed)
  if (found === undefined) return
  const { table, addressId, blockNumber } = found
  const place = { table, row: `block ${blockNumber}, address ${addressId}` }
  throw new DatabaseFault(place, { field: 'first block_number of its key', expected: first, found: blockNumber })
}
