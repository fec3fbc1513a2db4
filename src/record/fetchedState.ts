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

/** A state to execute on, with the rest at an upstream. A missing value that is read is noted and reads as empty; after
 *  `load`, the same block is executed again. */
export class FetchedState implements StateProvider {
  private readonly fetcher: StateFetcher
  private readonly base = new Map<string, BaseAccount>()
  private readonly current = new Map<string, CurrentAccount>()
  private readonly codes = new Map<string, Uint8Array>()
  private missingAccounts = new Map<string, Uint8Array>()
  private missingSlots = new Map<string, SlotRef>()
  private entries = 0

  /** Starts with the accounts of `known`; fetches their other slots when they are read. */
  constructor(fetcher: StateFetcher, known: readonly GenesisAccount[]) {
    this.fetcher = fetcher
    for (const account of known) this.addBase(account, account.storage)
  }

  /** True when a missing value was read. */
  get isIncomplete(): boolean {
    return this.missingAccounts.size + this.missingSlots.size > 0
  }

  /** Fetches the noted values. @throws UpstreamError, TooMuchState */
  async load(): Promise<void> {
    const [addresses, slots] = [[...this.missingAccounts.values()], [...this.missingSlots.values()]]
    this.missingAccounts = new Map()
    this.missingSlots = new Map()
    this.count(slots.length)
    for (const account of await this.fetcher.accounts(addresses)) this.addBase(account)
    const values = await this.fetcher.slots(slots)
    for (const [i, { address, slot }] of slots.entries()) {
      this.base.get(keyOfBytes(address))!.slots.set(keyOfBytes(slot), { slot, value: values[i] })
    }
  }

  /** Applies the changes of an executed block. */
  apply(changes: StateChanges): void {
    for (const { hash, bytes } of changes.codes) this.codes.set(keyOfBytes(hash), bytes.slice())
    for (const { address, incarnation, account } of changes.accounts) {
      const before = this.current.get(keyOfBytes(address))
      const slots = before?.incarnation === incarnation ? before.slots : new Map<string, Uint8Array>()
      const fields = account && { ...account, codeHash: account.codeHash ?? EMPTY_CODE_HASH }
      this.current.set(keyOfBytes(address), { incarnation, account: fields, slots })
    }
    for (const { address, incarnation, slot, value } of changes.storage) {
      const key = keyOfBytes(address)
      // An account whose slots alone changed is as it was before.
      const held = this.current.get(key) ?? { incarnation, account: this.base.get(key)?.account, slots: new Map() }
      held.slots.set(keyOfBytes(slot), trimLeft(value))
      this.current.set(key, held)
    }
  }

  /** Returns the accounts that were read, as they were before all blocks. */
  accounts(): GenesisAccount[] {
    return Array.from(this.base.values())
      .filter(({ account }) => account !== undefined)
      .map(({ address, account, code, slots }) => ({
        ...{ address, code },
        ...{ nonce: account!.nonce, balance: account!.balance },
        storage: [...slots.values()].filter(({ value }) => value.length > 0),
      }))
  }

  account(address: Uint8Array): ReturnType<StateProvider['account']> {
    const key = keyOfBytes(address)
    const changed = this.current.get(key)
    if (changed) return changed
    const held = this.base.get(key)
    if (!held) this.missingAccounts.set(key, address.slice())
    return held?.account && { incarnation: 0, account: held.account }
  }

  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const changed = this.current.get(keyOfBytes(address))
    const written = changed?.slots.get(keyOfBytes(slot))
    if (written) return written
    return changed && changed.incarnation > 0 ? EMPTY_BYTES : this.baseSlot(address, slot)
  }

  code(hash: Uint8Array): Uint8Array {
    const code = this.codes.get(keyOfBytes(hash))
    if (code === undefined) throw new Error('code of an account that was not loaded')
    return code
  }

  hasStorage(address: Uint8Array): boolean {
    const { size = 0 } = this.current.get(keyOfBytes(address))?.slots ?? this.base.get(keyOfBytes(address))?.slots ?? {}
    return size > 0
  }

  private addCode(code: Uint8Array): Uint8Array {
    if (code.length === 0) return EMPTY_CODE_HASH
    const hash = keccak256(code)
    this.codes.set(keyOfBytes(hash), code)
    return hash
  }

  private addBase(account: Omit<GenesisAccount, 'storage'>, storage: GenesisAccount['storage'] = []): void {
    const { address, nonce, balance, code } = account
    const codeHash = this.addCode(code)
    const slots = new Map(storage.map((each) => [keyOfBytes(each.slot), each]))
    this.base.set(keyOfBytes(address), {
      ...{ address, code, slots },
      account: isAbsentState(account) && slots.size === 0 ? undefined : { nonce, balance, codeHash },
    })
    this.count(1 + slots.size)
  }

  private count(more: number): void {
    this.entries += more
    if (this.entries > MAX_ENTRIES) throw new TooMuchState()
  }

  private baseSlot(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const held = this.base.get(keyOfBytes(address))
    const value = held?.slots.get(keyOfBytes(slot))?.value
    if (value === undefined && held?.account !== undefined) {
      this.missingSlots.set(keyOfBytes(address) + keyOfBytes(slot), { address: address.slice(), slot: slot.slice() })
    }
    return value ?? EMPTY_BYTES
  }
}
