import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { padLeft } from '../../../src/lib/bytes.js'
import type { StateReader } from '../../../src/store/state/stateReader.js'
import { createStateTrie } from '../chains/stateTrie.js'

const STEP = 10_000

/** Computes the root of the newest state, 32 bytes, from its rows alone. */
export function hashStoredState(reader: StateReader): Uint8Array {
  const trie = createStateTrie()
  for (let above = 0; ; ) {
    const rows = reader.latestAccounts(above, STEP)
    if (rows.length === 0) return trie.root()
    for (const { address, account } of rows) {
      if (account === undefined) continue
      const { nonce, balance, codeId, addressId, incarnation } = account
      const codeHash = codeId === undefined ? EMPTY_CODE_HASH : reader.codeHash(codeId)
      const storageRoot = hashStorage(reader, addressId, incarnation)
      trie.put(keccak256(address), encodeRlp([nonce, balance, storageRoot, codeHash]))
    }
    above = rows.at(-1)!.addressId
  }
}

function hashStorage(reader: StateReader, addressId: number, incarnation: number): Uint8Array {
  const trie = createStateTrie()
  for (let after: Uint8Array | undefined; ; ) {
    const rows = reader.latestStorage(addressId, incarnation, { after, limit: STEP })
    for (const { slot, value } of rows) {
      if (value.length > 0) trie.put(keccak256(padLeft(slot, 32)), encodeRlp(value))
    }
    if (rows.length < STEP) return trie.root()
    after = rows.at(-1)!.slot
  }
}
