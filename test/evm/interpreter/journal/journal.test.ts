import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../../src/chain/eth/emptyHashes.js'
import { encodeRlp } from '../../../../src/chain/eth/rlp.js'
import { bigIntToBytes } from '../../../../src/lib/bytes.js'
import { createTestJournal } from '../../../support/chains/memoryState.js'
import { createStateTrie } from '../../../support/chains/stateTrie.js'
import { seededRandom } from '../../../support/random.js'

/** An account of the oracle. */
interface Plain {
  nonce: bigint
  balance: bigint
  slots: Map<number, bigint>
  created: boolean
  destructed: boolean
  touched: boolean
}
type Model = Map<number, Plain>

const addressOf = (index: number) => new Uint8Array(20).fill(index + 1)
const slotBytes = (slot: number) => {
  const bytes = new Uint8Array(32)
  bytes[0] = slot * 7
  bytes[31] = slot
  return bytes
}
const copyOf = (model: Model): Model =>
  new Map(Array.from(model, ([key, account]) => [key, { ...account, slots: new Map(account.slots) }]))

function rootOf(model: Model): Uint8Array {
  const trie = createStateTrie()
  for (const [index, { nonce, balance, slots }] of model) {
    const storage = createStateTrie()
    for (const [slot, value] of slots) {
      if (value !== 0n) storage.put(keccak256(slotBytes(slot)), encodeRlp(bigIntToBytes(value)))
    }
    trie.put(keccak256(addressOf(index)), encodeRlp([nonce, balance, storage.root(), EMPTY_CODE_HASH]))
  }
  return trie.root()
}

/** The root of a trie that is kept up with what `takeTouched` says. */
function createTouchedRoot() {
  const accounts = createStateTrie()
  const storages = new Map<string, ReturnType<typeof createStateTrie>>()
  return (journal: ReturnType<typeof createTestJournal>['journal']): Uint8Array => {
    for (const { address, account, cleared, slots } of journal.takeTouched()) {
      const key = String(address)
      if (cleared || account === null || !storages.has(key)) storages.set(key, createStateTrie())
      const storage = storages.get(key)!
      for (const { slot, value } of slots) storage.put(keccak256(slot), value.length ? encodeRlp(value) : value)
      accounts.put(
        keccak256(address),
        account === null
          ? new Uint8Array(0)
          : encodeRlp([account.nonce, account.balance, storage.root(), account.codeHash]),
      )
    }
    return accounts.root()
  }
}

test('is what a plain copy of the state is, through failures, destructions and blocks', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seededRandom(seed)
    const { journal, state } = createTestJournal([])
    const touchedRoot = createTouchedRoot()
    let model: Model = new Map()
    const plainOf = (index: number): Plain => {
      let plain = model.get(index)
      if (plain === undefined) {
        plain = { nonce: 0n, balance: 0n, slots: new Map(), created: false, destructed: false, touched: false }
        model.set(index, plain)
      }
      plain.touched = true
      return plain
    }
    let saved: { position: number; model: Model }[] = []
    const word = new Int32Array(16)
    for (let step = 0; step < 400; step++) {
      const index = random.below(6)
      const account = journal.account(addressOf(index))
      const kind = random.below(20)
      if (kind < 5) {
        const value = BigInt(random.below(4))
        journal.setBalance(account, value)
        plainOf(index).balance = value
      } else if (kind < 7) {
        const nonce = BigInt(random.below(3))
        journal.setNonce(account, nonce)
        plainOf(index).nonce = nonce
      } else if (kind < 13) {
        // Only accounts that cannot be empty have storage, as contracts do.
        if (account.nonce === 0n) continue
        const slot = random.below(4)
        const value = random.below(3)
        const bytes = slotBytes(slot)
        word.fill(0)
        word[7] = bytes[0] << 24
        word[0] = slot
        word[8] = value
        journal.writeSlot(journal.slot(account, word, 0), word, 8)
        plainOf(index).slots.set(slot, BigInt(value))
      } else if (kind === 13) {
        journal.setBalance(account, 0n)
        journal.destruct(account)
        const plain = plainOf(index)
        plain.balance = 0n
        plain.destructed = true
      } else if (kind < 16) {
        saved.push({ position: journal.snapshot(), model: copyOf(model) })
      } else if (kind === 16 && saved.length > 0) {
        const at = random.below(saved.length)
        journal.revert(saved[at].position)
        model = saved[at].model
        saved = saved.slice(0, at)
      } else if (kind === 17) {
        journal.endTransaction(true)
        saved = []
        for (const [key, plain] of model) {
          const isEmpty = plain.nonce === 0n && plain.balance === 0n
          if (plain.destructed || (plain.touched && isEmpty)) model.delete(key)
          plain.touched = false
        }
        if (random.below(3) > 0) {
          assert.deepEqual(touchedRoot(journal), rootOf(model), `seed ${seed}, step ${step}: touched`)
        }
        if (random.below(2) === 0) {
          state.apply(journal.takeChanges())
          assert.deepEqual(state.root(), rootOf(model), `seed ${seed}, step ${step}: stored`)
          if (random.below(3) === 0) {
            touchedRoot(journal)
            journal.clear()
          }
        }
      }
    }
  }
})
