import type { GenesisAccount } from '../../../src/chain/eth/genesis.js'
import { EMPTY_BYTES, padLeft } from '../../../src/lib/bytes.js'
import type { Database } from '../../../src/store/open.js'
import { createStateReader } from '../../../src/store/stateReader.js'

/** The accounts at the head of a database, with code and storage. */
export function* readHeadState(db: Database): Generator<GenesisAccount> {
  const reader = createStateReader(db)
  for (const { address, account } of reader.latestAccounts()) {
    const { addressId, incarnation, nonce, balance, codeId } = account
    const code = codeId === undefined ? EMPTY_BYTES : reader.code(codeId)
    const storage = reader.latestStorage(addressId, incarnation)
    yield {
      address,
      nonce,
      balance,
      code,
      storage: storage.map(({ slot, value }) => ({ slot: padLeft(slot, 32), value })),
    }
  }
}
