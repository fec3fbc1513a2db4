import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import { padLeft } from '../lib/bytes.js'
import { CairnError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import { decodeUint, type StoredUint } from '../store/columns.js'
import type { Database } from '../store/database.js'
import { createRawState, type RawAccountRow } from '../store/state/rawState.js'
import type { StateReader, StoredAccount } from '../store/state/stateReader.js'
import type { TouchedAccount } from './touchedAccount.js'

/** Changes of blocks, for tries updated from the rows. */
export interface BlockChanges {
  /** Returns the accounts that a stored block changed and those whose slots it changed, as they are after it.
   *  @throws StorageOfOtherIncarnation for a slot that no account has */
  of(blockNumber: number): TouchedAccount[]
}

/** A row of a slot that does not belong to the account at its address: reads would not find it. */
export class StorageOfOtherIncarnation extends CairnError {
  readonly blockNumber: number
  readonly address: Uint8Array
  constructor(blockNumber: number, address: Uint8Array) {
    super(`block ${blockNumber} changes storage at ${formatData(address)} that is not of the account as it is then`)
    this.blockNumber = blockNumber
    this.address = address
  }
}

type Entry = TouchedAccount & { incarnation: number | undefined }

/** Creates a reader of changes over the rows of a database. */
export function createBlockChanges(db: Database, reader: StateReader): BlockChanges {
  const raw = createRawState(db)
  const readAccount = (row: RawAccountRow): Entry => {
    const { address, balance, nonce, code_id: codeId, incarnation, previous_incarnation: previous } = row
    const isCleared = previous !== null && previous !== incarnation
    const common = { address: address!, cleared: isCleared, slots: [] }
    if (balance === null) return { ...common, account: null, incarnation: undefined }
    const values = { nonce: decodeUint(nonce as StoredUint), balance: decodeUint(balance as StoredUint) }
    const account = storedStateAccount(reader, { ...values, codeId: codeId ?? undefined })
    return { ...common, account, incarnation }
  }
  const readUnchanged = (address: Uint8Array, blockNumber: number): Entry => {
    const stored = reader.account(address, blockNumber)?.account
    const account = stored ? storedStateAccount(reader, stored) : null
    return { address, account, cleared: false, incarnation: stored?.incarnation, slots: [] }
  }
  return {
    of: (blockNumber) => {
      const touched = new Map<number, Entry>()
      for (const row of raw.accounts(blockNumber)) touched.set(row.address_id, readAccount(row))
      for (const { address_id: id, address, incarnation, slot, value } of raw.slots(blockNumber)) {
        let entry = touched.get(id)
        if (entry === undefined) {
          entry = readUnchanged(address!, blockNumber)
          touched.set(id, entry)
        }
        if (entry.incarnation !== incarnation) {
          throw new StorageOfOtherIncarnation(blockNumber, address!)
        }
        if (value === undefined) throw new Error(`block ${blockNumber} lacks the row of slot ${formatData(slot)}`)
        entry.slots.push({ slot: padLeft(slot, 32), value })
      }
      return [...touched.values()]
    },
  }
}

/** A stored account as it is in the trie. */
export function storedStateAccount(
  reader: StateReader,
  { nonce, balance, codeId }: Pick<StoredAccount, 'nonce' | 'balance' | 'codeId'>,
): StateAccount {
  return { nonce, balance, codeHash: codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(codeId) }
}
