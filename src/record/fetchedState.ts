import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import type { GenesisAccount } from '../chain/eth/genesis.js'
import type { StateAccount } from '../chain/eth/stateAccount.js'
import type { StateProvider } from '../evm/state/stateProvider.js'
import { EMPTY_BYTES, keyOfBytes, trimLeft } from '../lib/bytes.js'
import { CairnError } from '../lib/errors.js'
import type { StateChanges } from '../store/rows/stateChanges.js'
import { isAbsentState, type SlotRef, type StateFetcher } from './stateFetcher.js'

// A recording is read into memory, also when it is imported.
const MAX_ENTRIES = 1_000_000

/** A recording needs more of the state than its limit. */
export class TooMuchState extends CairnError {
  constructor() {
    super(`the blocks touch more than ${MAX_ENTRIES} accounts and slots; record fewer blocks`)
  }
}

/** A state to execute on, with the rest at an upstream. A missing value that is read is noted and reads as empty; after
 *  `load`, the same block is executed again. */
export interface FetchedState extends StateProvider {
  /** True when a missing value was read. */
  readonly isIncomplete: boolean
  /** Fetches the noted values. @throws UpstreamError, TooMuchState */
  load(): Promise<void>
  /** Applies the changes of an executed block. */
  apply(changes: StateChanges): void
  /** Returns the accounts that were read, as they were before all blocks. */
  accounts(): GenesisAccount[]
}

interface BaseAccount {
  readonly address: Uint8Array
  /** Undefined: the account does not exist. */
  readonly account?: StateAccount
  readonly code: Uint8Array
  readonly slots: Map<string, { slot: Uint8Array; value: Uint8Array }>
}

interface CurrentAccount {
  readonly incarnation: number
  readonly account?: StateAccount
  /** Slots that were written, of this incarnation. */
  readonly slots: Map<string, Uint8Array>
}

/** Starts with the accounts of `known`; fetches their other slots when they are read. */
export function createFetchedState(fetcher: StateFetcher, known: readonly GenesisAccount[]): FetchedState {
  const base = new Map<string, BaseAccount>()
  const current = new Map<string, CurrentAccount>()
  const codes = new Map<string, Uint8Array>()
  let missingAccounts = new Map<string, Uint8Array>()
  let missingSlots = new Map<string, SlotRef>()
  let entries = 0

  const addCode = (code: Uint8Array): Uint8Array => {
    if (code.length === 0) return EMPTY_CODE_HASH
    const hash = keccak256(code)
    codes.set(keyOfBytes(hash), code)
    return hash
  }
  const addBase = (account: Omit<GenesisAccount, 'storage'>, storage: GenesisAccount['storage'] = []) => {
    const { address, nonce, balance, code } = account
    const codeHash = addCode(code)
    const slots = new Map(storage.map((each) => [keyOfBytes(each.slot), each]))
    base.set(keyOfBytes(address), {
      ...{ address, code, slots },
      account: isAbsentState(account) && slots.size === 0 ? undefined : { nonce, balance, codeHash },
    })
    count(1 + slots.size)
  }
  const count = (more: number) => {
    entries += more
    if (entries > MAX_ENTRIES) throw new TooMuchState()
  }
  const baseSlot = (address: Uint8Array, slot: Uint8Array): Uint8Array => {
    const held = base.get(keyOfBytes(address))
    const value = held?.slots.get(keyOfBytes(slot))?.value
    if (value === undefined && held?.account !== undefined) {
      missingSlots.set(keyOfBytes(address) + keyOfBytes(slot), { address: address.slice(), slot: slot.slice() })
    }
    return value ?? EMPTY_BYTES
  }
  for (const account of known) addBase(account, account.storage)

  return {
    account: (address) => {
      const key = keyOfBytes(address)
      const changed = current.get(key)
      if (changed) return changed
      const held = base.get(key)
      if (!held) missingAccounts.set(key, address.slice())
      return held?.account && { incarnation: 0, account: held.account }
    },
    storage: (address, slot) => {
      const changed = current.get(keyOfBytes(address))
      const written = changed?.slots.get(keyOfBytes(slot))
      if (written) return written
      return changed && changed.incarnation > 0 ? EMPTY_BYTES : baseSlot(address, slot)
    },
    code: (hash) => {
      const code = codes.get(keyOfBytes(hash))
      if (code === undefined) throw new Error('code of an account that was not loaded')
      return code
    },
    hasStorage: (address) => {
      const { size = 0 } = current.get(keyOfBytes(address))?.slots ?? base.get(keyOfBytes(address))?.slots ?? {}
      return size > 0
    },
    get isIncomplete() {
      return missingAccounts.size + missingSlots.size > 0
    },
    load: async () => {
      const [addresses, slots] = [[...missingAccounts.values()], [...missingSlots.values()]]
      missingAccounts = new Map()
      missingSlots = new Map()
      count(slots.length)
      for (const account of await fetcher.accounts(addresses)) addBase(account)
      const values = await fetcher.slots(slots)
      for (const [i, { address, slot }] of slots.entries()) {
        base.get(keyOfBytes(address))!.slots.set(keyOfBytes(slot), { slot, value: values[i] })
      }
    },
    apply: (changes) => {
      for (const { hash, bytes } of changes.codes) codes.set(keyOfBytes(hash), bytes.slice())
      for (const { address, incarnation, account } of changes.accounts) {
        const before = current.get(keyOfBytes(address))
        const slots = before?.incarnation === incarnation ? before.slots : new Map<string, Uint8Array>()
        const fields = account && { ...account, codeHash: account.codeHash ?? EMPTY_CODE_HASH }
        current.set(keyOfBytes(address), { incarnation, account: fields, slots })
      }
      for (const { address, incarnation, slot, value } of changes.storage) {
        const key = keyOfBytes(address)
        // An account whose slots alone changed is as it was before.
        const held = current.get(key) ?? { incarnation, account: base.get(key)?.account, slots: new Map() }
        held.slots.set(keyOfBytes(slot), trimLeft(value))
        current.set(key, held)
      }
    },
    accounts: () =>
      Array.from(base.values())
        .filter(({ account }) => account !== undefined)
        .map(({ address, account, code, slots }) => ({
          ...{ address, code },
          ...{ nonce: account!.nonce, balance: account!.balance },
          storage: [...slots.values()].filter(({ value }) => value.length > 0),
        })),
  }
}
