import type { StateAccount } from '../../../chain/eth/stateAccount.js'
import type { MemoryMeter } from '../memoryMeter.js'
import { LIMBS, setBytes, type Words, wordToBytes } from '../words/words.js'
import { WordTable } from '../words/wordTable.js'
import { createJournalAccount, type JournalAccount } from './journalAccount.js'

// An account with its address, word, balance, hash and list entries (measured: 700 to 800 bytes).
const ACCOUNT_BYTES = 800

/** The accounts that a journal has loaded, one object per address. */
export class AccountTable {
  /** Accounts by id. */
  all: JournalAccount[] = []
  private readonly ids: WordTable
  private readonly meter: MemoryMeter
  private nextStorage = 0
  private readonly scratch: Words = new Int32Array(LIMBS)
  private readonly read: (address: Uint8Array) => StateAccount | undefined

  /** `read` returns the account of an address; undefined if it does not exist. */
  constructor(read: (address: Uint8Array) => StateAccount | undefined, meter: MemoryMeter) {
    this.read = read
    this.meter = meter
    this.ids = new WordTable(256, meter)
  }

  /** The account of an address of 20 bytes. */
  ofAddress(address: Uint8Array): JournalAccount {
    setBytes(this.scratch, 0, address, 0, 20)
    return this.ofScratch()
  }

  /** The account of the address in the low 20 bytes of the word at `a`. */
  ofWord(s: Words, a: number): JournalAccount {
    const { scratch } = this
    scratch[0] = s[a]
    scratch[1] = s[a + 1]
    scratch[2] = s[a + 2]
    scratch[3] = s[a + 3]
    scratch[4] = s[a + 4]
    return this.ofScratch()
  }

  private ofScratch(): JournalAccount {
    const { scratch } = this
    scratch[5] = 0
    scratch[6] = 0
    scratch[7] = 0
    const id = this.ids.find(0, scratch, 0)
    return id >= 0 ? this.all[id] : this.load()
  }

  private load(): JournalAccount {
    const { scratch } = this
    const address = wordToBytes(scratch, 0, 20)
    const stored = this.read(address)
    this.meter.take(ACCOUNT_BYTES)
    const id = this.ids.insert(0, scratch, 0)
    const account = createJournalAccount(stored, { id, address, word: scratch.slice(), storage: this.newStorage() })
    this.all.push(account)
    return account
  }

  /** A new storage id that no account has used. */
  newStorage(): number {
    return this.nextStorage++
  }

  /** Clears all accounts. */
  clear(): void {
    this.ids.clear()
    this.all = []
    this.nextStorage = 0
  }
}
