import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes } from '../lib/bytes.js'
import { parseHex } from '../lib/hex.js'
import type { Database } from '../store/database.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { readStateDump } from '../store/state/stateDump.js'
import { createStateDumpRows, type StateDumpRows } from '../store/state/stateDumpRows.js'
import { createStateTrieTable, openScratchTrie } from '../store/state/stateTrieTable.js'
import { type HashedAccount, HashedState } from '../trie/hashedState.js'
import { atPlace, DatabaseFault } from './fault.js'

// Accounts at once.
const STEP = 10_000
const CACHE_BYTES = 256 * 2 ** 20
const PLACE = { table: 'hashed_accounts and hashed_storage' }

/** Recomputes the root of the state dump from its rows, in a temporary file, and compares it with the header of its
 *  block; as long as that is not stored, with the stored trie. @returns its accounts and slots; undefined without a
 *  dump @throws DatabaseFault */
export function auditStateDump(db: Database): { accounts: number; slots: number } | undefined {
  const dump = readStateDump(db)
  if (dump === undefined) return undefined
  return atPlace(PLACE, () => {
    const { root, ...found } = hashRows(createStateDumpRows(db))
    const header = createChainReader(db).blockByNumber(dump.number)?.header
    const expected = header?.stateRoot ?? parseHex(createStateTrieTable(db).head()?.root ?? '')
    if (!equalBytes(root, expected)) {
      throw new DatabaseFault(PLACE, { field: `state root of block ${dump.number}`, expected, found: root })
    }
    for (const field of ['accounts', 'slots'] as const) {
      if (found[field] === dump[field]) continue
      throw new DatabaseFault(PLACE, { field, expected: dump[field], found: found[field] })
    }
    return found
  })
}

function hashRows(rows: StateDumpRows): { root: Uint8Array; accounts: number; slots: number } {
  const scratch = openScratchTrie()
  try {
    const state = new HashedState(scratch.table, CACHE_BYTES)
    const done = { accounts: 0, slots: 0 }
    const storageOf = (id: number) =>
      state.storageTrie((after, limit) => {
        const slots = rows.slots(id, after, limit)
        done.slots += slots.length
        return slots
      })
    for (let after: Uint8Array | undefined; ; ) {
      const found = rows.accounts(after, STEP)
      const accounts = found.map(
        ({ hash, nonce, balance, codeHash = EMPTY_CODE_HASH, id, hasStorage }): HashedAccount => {
          return { hash, nonce, balance, codeHash, storage: hasStorage ? storageOf(id) : undefined }
        },
      )
      if (accounts.length > 0) state.addAccounts(accounts)
      state.save()
      done.accounts += accounts.length
      if (found.length < STEP) return { ...done, root: state.root() }
      after = found.at(-1)!.hash
    }
  } finally {
    scratch.close()
  }
}
