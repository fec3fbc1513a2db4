import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import type { StateProvider } from '../../../src/evm/state/stateProvider.js'
import { bigIntToBytes, EMPTY_BYTES, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import type { StateAccess } from '../../../src/trie/stateAccess.js'
import type { StateRoot } from '../../../src/trie/stateRoot.js'
import type { TouchedAccount } from '../../../src/trie/touchedAccount.js'
import type { TestAccount } from '../chains/blockchainTest.js'

/** An account of the block access list of an official test (EIP-7928), as JSON. */
export interface ListedAccount {
  address: string
  nonceChanges: { postNonce: string }[]
  balanceChanges: { postBalance: string }[]
  codeChanges: { newCode: string }[]
  storageChanges: { slot: string; slotChanges: { postValue: string }[] }[]
  storageReads: string[]
}

interface MemoryAccount {
  nonce: bigint
  balance: bigint
  code: string
  storage: Map<string, bigint>
}

/** The state of an official test in memory, which its access lists advance, with its trie. */
export class FixtureState implements StateProvider {
  private readonly accounts = new Map<string, MemoryAccount>()
  private readonly codes = new Map<string, Uint8Array>()
  private readonly root: StateRoot

  /** `root` is that of an empty state. */
  constructor(pre: { [address: string]: TestAccount }, root: StateRoot) {
    this.root = root
    for (const [address, { nonce, balance, code, storage }] of Object.entries(pre)) {
      const slots = Object.entries(storage).map(([slot, value]) => [wordOf(slot), BigInt(value)] as const)
      const account = { nonce: BigInt(nonce), balance: BigInt(balance), code, storage: new Map(slots) }
      this.accounts.set(address.toLowerCase(), account)
      this.codes.set(formatData(codeHashOf(account)), parseHex(code))
    }
    root.update([...this.accounts.keys()].map((address) => this.touched(address)))
  }

  account(address: Uint8Array): ReturnType<StateProvider['account']> {
    const found = this.accounts.get(formatData(address))
    if (found === undefined) return undefined
    const { nonce, balance } = found
    return { incarnation: 0, account: { nonce, balance, codeHash: codeHashOf(found) } }
  }

  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    const value = this.accounts.get(formatData(address))?.storage.get(formatData(padLeft(slot, 32))) ?? 0n
    return bigIntToBytes(value)
  }

  code(hash: Uint8Array): Uint8Array {
    return this.codes.get(formatData(hash)) ?? EMPTY_BYTES
  }

  hasStorage(address: Uint8Array): boolean {
    return (this.accounts.get(formatData(address))?.storage.size ?? 0) > 0
  }

  /** Applies what a block changes. Returns its accesses, and the nodes of its witness before it: hex, sorted. */
  apply(list: readonly ListedAccount[]): { accesses: StateAccess[]; nodes: string[] } {
    const changed = list.filter(({ address, storageReads: _, ...changes }) => {
      const isChanged = Object.values(changes).some((each) => each.length > 0)
      if (isChanged) this.change(address, changes)
      return isChanged
    })
    const accesses = list.map(({ address, storageChanges, storageReads }): StateAccess => {
      const slots = [...storageChanges.map(({ slot }) => slot), ...storageReads].map(wordOf)
      const account = this.accounts.get(address)
      const isEmpty = (slot: string) => (account?.storage.get(slot) ?? 0n) === 0n
      return {
        address: parseHex(address),
        isDeleted: account === undefined,
        slots: slots.map((slot) => ({ slot: parseHex(slot), isDeleted: isEmpty(slot) })),
      }
    })
    const nodes = this.nodesOf(accesses)
    this.root.update(changed.map(({ address }) => this.touched(address)))
    return { accesses, nodes }
  }

  /** RLP of the nodes of a witness of the state: hex, sorted. */
  nodesOf(accesses: readonly StateAccess[]): string[] {
    return this.root.witness(accesses).map(formatData).sort()
  }

  /** The root of the state: hex. */
  stateRoot(): string {
    return formatData(this.root.root())
  }

  private change(address: string, changes: Omit<ListedAccount, 'address' | 'storageReads'>): void {
    const account = this.accounts.get(address) ?? { nonce: 0n, balance: 0n, code: '0x', storage: new Map() }
    const { nonceChanges, balanceChanges, codeChanges, storageChanges } = changes
    account.nonce = BigInt(nonceChanges.at(-1)?.postNonce ?? account.nonce)
    account.balance = BigInt(balanceChanges.at(-1)?.postBalance ?? account.balance)
    account.code = codeChanges.at(-1)?.newCode ?? account.code
    for (const { slot, slotChanges } of storageChanges)
      account.storage.set(wordOf(slot), BigInt(slotChanges.at(-1)!.postValue))
    this.codes.set(formatData(codeHashOf(account)), parseHex(account.code))
    const isEmpty = account.nonce === 0n && account.balance === 0n && account.code === '0x'
    if (isEmpty) this.accounts.delete(address)
    else this.accounts.set(address, account)
  }

  private touched(address: string): TouchedAccount {
    const found = this.accounts.get(address)
    if (found === undefined) return { address: parseHex(address), account: null, cleared: true, slots: [] }
    const { nonce, balance, storage } = found
    return {
      address: parseHex(address),
      account: { nonce, balance, codeHash: codeHashOf(found) },
      cleared: false,
      slots: Array.from(storage, ([slot, value]) => ({ slot: parseHex(slot), value: bigIntToBytes(value) })),
    }
  }
}

function codeHashOf({ code }: Pick<MemoryAccount, 'code'>): Uint8Array {
  return code === '0x' ? EMPTY_CODE_HASH : keccak256(parseHex(code))
}

function wordOf(hex: string): string {
  return formatData(padLeft(bigIntToBytes(BigInt(hex)), 32))
}
