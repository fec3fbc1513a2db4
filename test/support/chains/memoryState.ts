import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import type { StateAccount } from '../../../src/chain/eth/stateAccount.js'
import { createCodeObjects } from '../../../src/evm/interpreter/code.js'
import { Journal } from '../../../src/evm/interpreter/journal/journal.js'
import type { NewAccount } from '../../../src/evm/interpreter/journal/journalAccount.js'
import type { StateProvider } from '../../../src/evm/state/stateProvider.js'
import { EMPTY_BYTES, keyOfBytes } from '../../../src/lib/bytes.js'
import type { StateChanges } from '../../../src/store/rows/stateChanges.js'
import { createStateTrie } from './stateTrie.js'

/** A stored state in memory, for journals to lie on: the database's tables without their history. */
export interface MemoryState extends StateProvider {
  /** Stores what a journal has changed. */
  apply(changes: StateChanges): void
  /** The state root: 32 bytes. */
  root(): Uint8Array
  /** How often code was read so far. */
  codeReads(): number
  /** All accounts in order of their addresses, a line each. */
  dump(): string
}

interface Stored {
  address: Uint8Array
  incarnation: number
  account?: StateAccount
  slots: Map<string, Uint8Array> // of this incarnation
}

/** A state without accounts. */
export function createMemoryState(): MemoryState {
  const accounts = new Map<string, Stored>()
  const codes = new Map<string, Uint8Array>()
  let codeReads = 0
  const storedOf = (address: Uint8Array, incarnation: number): Stored => {
    let stored = accounts.get(keyOfBytes(address))
    if (stored === undefined || stored.incarnation !== incarnation) {
      stored = { address, incarnation, slots: new Map(), account: stored?.account }
      accounts.set(keyOfBytes(address), stored)
    }
    return stored
  }
  return {
    account: (address) => accounts.get(keyOfBytes(address)),
    storage: (address, slot) => accounts.get(keyOfBytes(address))?.slots.get(keyOfBytes(slot)) ?? EMPTY_BYTES,
    codeReads: () => codeReads,
    code: (hash) => {
      codeReads++
      const bytes = codes.get(keyOfBytes(hash))
      if (bytes === undefined) throw new Error(`no code of the hash ${Buffer.from(hash).toString('hex')} is stored`)
      return bytes
    },
    hasStorage: (address) => (accounts.get(keyOfBytes(address))?.slots.size ?? 0) > 0,
    apply: (changes) => {
      for (const { hash, bytes } of changes.codes) codes.set(keyOfBytes(hash), bytes.slice())
      for (const { address, incarnation, account } of changes.accounts) {
        storedOf(address, incarnation).account = account && {
          ...account,
          codeHash: account.codeHash ?? EMPTY_CODE_HASH,
        }
      }
      for (const { address, incarnation, slot, value } of changes.storage) {
        storedOf(address, incarnation).slots.set(keyOfBytes(slot), value)
      }
    },
    root: () => {
      const trie = createStateTrie()
      for (const { address, account, slots } of accounts.values()) {
        if (account === undefined) continue
        const storage = createStateTrie()
        for (const [slot, value] of slots) {
          if (value.length > 0) storage.put(keccak256(Buffer.from(slot, 'latin1')), encodeRlp(value))
        }
        const { nonce, balance, codeHash } = account
        trie.put(keccak256(address), encodeRlp([nonce, balance, storage.root(), codeHash]))
      }
      return trie.root()
    },
    dump: () => {
      const lines: string[] = []
      for (const { address, account, slots } of accounts.values()) {
        if (account === undefined) continue
        const storage = [...slots]
          .filter(([, value]) => value.length > 0)
          .map(([slot, value]) => `${latin1Hex(slot)}=${hex(value)}`)
        const { nonce, balance, codeHash } = account
        lines.push(
          `${hex(address)} nonce ${nonce} balance ${balance} code ${hex(codeHash).slice(0, 8)} ${storage.sort()}`,
        )
      }
      return lines.sort().join('\n')
    },
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const latin1Hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')

/** A journal over a state in memory that has the accounts. */
export function createTestJournal(accounts: Iterable<[Uint8Array, NewAccount]>): {
  state: MemoryState
  journal: Journal
} {
  const state = createMemoryState()
  const journal = new Journal(state, createCodeObjects(state.code, 1_000_000))
  for (const [address, account] of accounts) journal.putAccount(address, account)
  journal.endTransaction(false)
  state.apply(journal.takeChanges())
  journal.takeTouched()
  journal.clear()
  return { state, journal }
}
