import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesToBigInt, trimLeft } from '../../../src/lib/bytes.js'
import {
  type AccountRow,
  createAccountRows,
  createSlotRows,
  type SlotRow,
} from '../../../src/store/rows/collectedRows.js'
import { packChanges } from '../../../src/store/rows/packedChanges.js'
import { unpackChanges } from '../../support/chains/unpackedChanges.js'
import { seededRandom } from '../../support/random.js'

test('collected accounts come back as they were, in the order of their addresses', () => {
  const random = seededRandom(1)
  const rows = createAccountRows(400)
  for (const count of [0, 1, 400, 250]) {
    const added = Array.from({ length: count }, (_, i): AccountRow => {
      const isGone = random.below(5) === 0
      return {
        addressId: random.below(300),
        blockNumber: i,
        incarnation: random.below(2 ** 31) * random.below(2),
        nonce: bytesToBigInt(random.bytes(random.below(9))),
        balance: isGone ? undefined : bytesToBigInt(random.bytes(random.below(33))),
        codeId: isGone || random.below(2) === 0 ? null : random.below(3),
      }
    })
    for (const row of added) rows.add(row)
    assert.equal(rows.length, count)
    const taken: AccountRow[] = []
    rows.take((row) => void taken.push({ ...row }))
    // Rows of one address come in the order in which they were added.
    assert.deepEqual(
      taken,
      [...added].sort((a, b) => a.addressId - b.addressId),
    )
    assert.equal(rows.length, 0)
  }
  rows.add({ addressId: 1, blockNumber: 1, incarnation: 0, nonce: 0n, balance: 0n, codeId: null })
  rows.clear()
  rows.take(() => assert.fail('nothing is left'))
})

test('collected slots come back as they were, those of an address one after another by the begin of their keys', () => {
  const random = seededRandom(2)
  const rows = createSlotRows(1000)
  for (const count of [1, 1000, 600]) {
    const added: SlotRow[] = Array.from({ length: count }, (_, i) => {
      const bytes = random.bytes(80)
      const [slotFrom, valueFrom] = [random.below(9), 41 + random.below(7)]
      const [slotTo, valueTo] = [slotFrom + random.below(33), valueFrom + random.below(33)]
      const [addressId, incarnation] = [random.below(40), random.below(3)]
      return { addressId, incarnation, blockNumber: i, bytes, slotFrom, slotTo, valueFrom, valueTo }
    })
    for (const row of added) rows.add(row)
    const taken: ReturnType<typeof textOf>[] = []
    rows.take((row) => void taken.push(textOf(row)))
    const keyOf = ({ addressId, slot }: ReturnType<typeof textOf>) =>
      addressId * 2 ** 16 + (slot.length < 4 ? 0 : Number.parseInt(slot.slice(0, 4), 16))
    assert.deepEqual(
      taken,
      added.map(textOf).sort((a, b) => keyOf(a) - keyOf(b)),
    )
  }
})

test('packed changes are those that were packed, without leading zeros', () => {
  const random = seededRandom(3)
  for (let round = 0; round < 50; round++) {
    const addresses = Array.from({ length: 5 }, () => random.bytes(20))
    const incarnation = random.below(2)
    const accounts = addresses.slice(random.below(5)).map((address) => {
      const account = { nonce: BigInt(random.below(9)), balance: bytesToBigInt(random.bytes(9)) }
      return { address, incarnation, account: random.below(3) === 0 ? undefined : account }
    })
    const storage = Array.from({ length: random.below(40) }, () => ({
      address: addresses[random.below(5)],
      incarnation: random.below(2),
      slot: Uint8Array.from([...new Uint8Array(24), ...random.bytes(8)]),
      value: random.bytes(random.below(33)),
    }))
    const codes = [{ hash: random.bytes(32), bytes: random.bytes(9) }]
    const packed = packChanges({ accounts, storage, codes })
    assert.deepEqual(unpackChanges(packed), {
      accounts,
      storage: storage.map(({ value, ...slot }) => ({ ...slot, value: trimLeft(value) })),
      codes,
    })
    assert.equal(packed.addresses.length, new Set([...accounts, ...storage].map(({ address }) => address)).size)
    assert.equal(packed.storage.length, storage.length)
    assert.equal(packChanges(packed), packed)
  }
})

function textOf({ bytes, slotFrom, slotTo, valueFrom, valueTo, ...row }: Readonly<SlotRow>) {
  return { ...row, slot: hexOf(bytes, slotFrom, slotTo), value: hexOf(bytes, valueFrom, valueTo) }
}

function hexOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString('hex')
}
