import type { GenesisAccount } from '../../src/chain/eth/genesis.js'
import { EMPTY_BYTES, padLeft } from '../../src/lib/bytes.js'
import type { Database } from '../../src/store/database.js'
import { createStateReader } from '../../src/store/state/stateReader.js'

const ALL = 1_000_000 // more than the benchmark makes of anything

/** The accounts at the head of a database, with code and storage. */
export function readHeadState(db: Database): GenesisAccount[] {
  const reader = createStateReader(db)
  return reader.latestAccounts(0, ALL).flatMap(({ addressId, address, account }) => {
    if (account === undefined) return []
    const { incarnation, nonce, balance, codeId } = account
    const slots = reader.latestStorage(addressId, incarnation, { limit: ALL })
    const storage = slots.flatMap(({ slot, value }) => (value.length > 0 ? [{ slot: padLeft(slot, 32), value }] : []))
    return [{ address, nonce, balance, code: codeId === undefined ? EMPTY_BYTES : reader.code(codeId), storage }]
  })
}
