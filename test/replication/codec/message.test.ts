import assert from 'node:assert/strict'
import { test } from 'node:test'
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { encodeHeader } from '../../../src/chain/eth/header.js'
import { encodeReceipt } from '../../../src/chain/eth/receipt.js'
import { encodeTransaction } from '../../../src/chain/eth/transaction.js'
import { encodeWithdrawals } from '../../../src/chain/eth/withdrawals.js'
import { MAX_MESSAGE_BYTES } from '../../../src/replication/codec/deflate.js'
import { encodeReplicatedBlock, MESSAGE_VERSION } from '../../../src/replication/codec/message.js'
import { decodeChanges } from '../../../src/replication/codec/messageState.js'
import type { DecodedBlock, EncodedBlock, ReplicatedBlock } from '../../../src/replication/codec/types.js'
import { InvalidMessage } from '../../../src/replication/errors.js'
import { mutate } from '../../support/chains/mutate.js'
import { unpackChanges } from '../../support/chains/unpackedChanges.js'
import { decodeReplicatedBlock } from '../../support/nats/decodeReplicatedBlock.js'
import { randomReplicatedBlock } from '../../support/nats/replicatedBlocks.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

/** The message without its compression. */
const bodyOf = ({ payload }: EncodedBlock) => inflateRawSync(payload.subarray(1))

/** The block with an object for each slot, as it was encoded. */
const unpacked = ({ changes, ...block }: DecodedBlock) => ({ ...block, changes: changes && unpackChanges(changes) })

/** The same message with another body. */
const withBody = (encoded: EncodedBlock, body: Uint8Array): EncodedBlock => ({
  ...encoded,
  payload: Buffer.concat([Uint8Array.of(MESSAGE_VERSION), deflateRawSync(body)]),
})

/** All content of a block as text, for comparison. */
function textOf(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Uint8Array) return hexOf(value)
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .map(([name, member]) => `${name}: ${textOf(member)}`)
    .sort()
    .join()}}`
}

/** The encoding by the slowest means: a list of parts in hex. */
function slowBody({
  block,
  receipts,
  totalDifficulty,
  changes,
  appearances,
  blockAccessList,
}: ReplicatedBlock): string {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const integer = (value: number): string => {
    const digits = [value % 128]
    for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.push(rest % 128)
    return digits
      .map((digit, at) => (digit + (at < digits.length - 1 ? 128 : 0)).toString(16).padStart(2, '0'))
      .join('')
  }
  const bytes = (value: Uint8Array) => integer(value.length) + hex(value)
  const minimal = (value: bigint) => {
    const digits = value === 0n ? '' : value.toString(16)
    return digits.length % 2 ? `0${digits}` : digits
  }
  const uint = (value: bigint) => integer(minimal(value).length / 2) + minimal(value)
  const trimmed = (value: Uint8Array) => hex(value).replace(/^(00)+/, '')
  const all = new Set<string>()
  for (const { address } of [...(changes?.accounts ?? []), ...(changes?.storage ?? [])]) all.add(hex(address))
  for (const each of appearances ?? []) for (const address of each) all.add(hex(address))
  const addresses = [...all].sort()
  const steps = (indexes: number[]) => indexes.map((index, at) => index - (at === 0 ? 0 : indexes[at - 1]))
  const flags = [block.withdrawals, changes, appearances, blockAccessList].map((part) => part !== undefined)
  const out = [bytes(encodeHeader(block.header)), uint(totalDifficulty)]
  out.push(integer(flags.reduce((sum, isSet, bit) => sum + (isSet ? 2 ** bit : 0), 0)))
  out.push(integer(block.transactions.length))
  for (const transaction of block.transactions) out.push(hex(transaction.from), bytes(encodeTransaction(transaction)))
  for (const receipt of receipts) out.push(bytes(encodeReceipt(receipt)))
  out.push(integer(block.uncles.length), ...block.uncles.map((uncle) => bytes(encodeHeader(uncle))))
  if (block.withdrawals) out.push(bytes(encodeWithdrawals(block.withdrawals)))
  if (changes || appearances) out.push(integer(addresses.length), ...addresses)
  if (changes) {
    const accounts = [...changes.accounts].sort((a, b) => (hex(a.address) < hex(b.address) ? -1 : 1))
    out.push(integer(accounts.length))
    const indexes = steps(accounts.map(({ address }) => addresses.indexOf(hex(address))))
    for (const [at, { account, incarnation }] of accounts.entries()) {
      const kind = account ? (account.codeHash ? 2 : 1) : 0
      out.push(integer(indexes[at]), integer(kind), integer(incarnation))
      if (account) out.push(uint(account.nonce), uint(account.balance), account.codeHash ? hex(account.codeHash) : '')
    }
    const storages = new Map<string, { index: number; incarnation: number; slots: string[][] }>()
    for (const { address, incarnation, slot, value } of changes.storage) {
      const name = `${hex(address)}:${incarnation}`
      const found = storages.get(name) ?? { index: addresses.indexOf(hex(address)), incarnation, slots: [] }
      found.slots.push([trimmed(slot), trimmed(value)])
      storages.set(name, found)
    }
    const sorted = [...storages.values()].sort((a, b) => a.index - b.index || a.incarnation - b.incarnation)
    const storageIndexes = steps(sorted.map(({ index }) => index))
    out.push(integer(sorted.length))
    for (const [at, { incarnation, slots }] of sorted.entries()) {
      out.push(integer(storageIndexes[at]), integer(incarnation), integer(slots.length))
      slots.sort(([a], [b]) => (a < b ? -1 : 1))
      for (const part of slots.flat()) out.push(integer(part.length / 2), part)
    }
    const codes = [...new Map(changes.codes.map((code) => [hex(code.hash), code.bytes]))].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    out.push(integer(codes.length), ...codes.map(([, code]) => bytes(code)))
  }
  for (const own of appearances ?? []) {
    const indexes = [...new Set(own.map((address) => addresses.indexOf(hex(address))))].sort((a, b) => a - b)
    out.push(integer(indexes.length), ...steps(indexes).map(integer))
  }
  if (blockAccessList) out.push(bytes(blockAccessList))
  return out.join('')
}

function shuffled<T>(random: SeededRandom, values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: random.below(2 ** 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

test('a block comes back from its message as it was, with the consensus bytes of its parts', () => {
  const random = seededRandom(1)
  for (let number = 1; number <= 60; number++) {
    const block = randomReplicatedBlock(random, number)
    const message = decodeReplicatedBlock(encodeReplicatedBlock(block))
    const { encodedTransactions, encodedReceipts, encodedState, ...decoded } = unpacked(message)
    assert.ok(textOf(decoded) === textOf(block), `block ${number} differs`)
    if (decoded.changes) assert.deepEqual(unpackChanges(decodeChanges(encodedState)), decoded.changes)
    assert.deepEqual(
      encodedTransactions.map(hexOf),
      block.block.transactions.map((each) => hexOf(encodeTransaction(each))),
    )
    assert.deepEqual(
      encodedReceipts.map(hexOf),
      block.receipts.map((each) => hexOf(encodeReceipt(each))),
    )
  }
})

test('a message is what a slow encoder makes of the block, in whatever order its changes and appearances are', () => {
  const random = seededRandom(2)
  for (let number = 1; number <= 40; number++) {
    const block = randomReplicatedBlock(random, number)
    const { changes, appearances } = block
    const encoded = encodeReplicatedBlock({
      ...block,
      changes: changes && {
        accounts: shuffled(random, changes.accounts),
        storage: shuffled(random, changes.storage),
        codes: shuffled(random, [...changes.codes, ...changes.codes]),
      },
      appearances: appearances?.map((own) => shuffled(random, [...own, ...own])),
    })
    assert.equal(bodyOf(encoded).toString('hex'), slowBody(block))
    assert.equal(encoded.payload[0], MESSAGE_VERSION)
  }
})

test('1,500 damaged messages are refused by name, or decode to what encodes to the same bytes', () => {
  const random = seededRandom(3)
  const blocks = Array.from({ length: 30 }, (_, at) => encodeReplicatedBlock(randomReplicatedBlock(random, at + 1)))
  let [refused, accepted] = [0, 0]
  for (let round = 0; round < 1_500; round++) {
    const encoded = blocks[random.below(blocks.length)]
    // One third of the faults is in the compressed bytes.
    const damaged =
      round % 3 === 0
        ? { ...encoded, payload: mutate(encoded.payload, random) }
        : withBody(encoded, mutate(bodyOf(encoded), random))
    try {
      const decoded = decodeReplicatedBlock(damaged)
      assert.deepEqual(bodyOf(encodeReplicatedBlock(unpacked(decoded))), bodyOf(damaged))
      accepted++
    } catch (error) {
      if (!(error instanceof InvalidMessage)) throw error
      refused++
    }
  }
  assert.ok(refused > 1_000, `${refused} refused`)
  assert.ok(accepted > 0, 'a fault in a value that nothing commits to is not visible here')
})

test('every cut of a message is refused', () => {
  const encoded = encodeReplicatedBlock(randomReplicatedBlock(seededRandom(5), 1))
  const body = bodyOf(encoded)
  for (let length = 0; length < body.length; length += 1 + Math.floor(body.length / 500)) {
    assert.throws(() => decodeReplicatedBlock(withBody(encoded, body.subarray(0, length))), InvalidMessage)
  }
  for (let length = 0; length < encoded.payload.length; length += 1 + Math.floor(encoded.payload.length / 500)) {
    assert.throws(
      () => decodeReplicatedBlock({ ...encoded, payload: encoded.payload.subarray(0, length) }),
      InvalidMessage,
    )
  }
})

test('bytes after the message, within and behind the compressed data, are refused', () => {
  const encoded = encodeReplicatedBlock(randomReplicatedBlock(seededRandom(6), 1))
  const longer = { ...encoded, payload: Buffer.concat([encoded.payload, Uint8Array.of(0)]) }
  assert.throws(() => decodeReplicatedBlock(longer), /payload: expected nothing after the compressed data, got 1 bytes/)
  const body = Buffer.concat([bodyOf(encoded), Uint8Array.of(0)])
  assert.throws(
    () => decodeReplicatedBlock(withBody(encoded, body)),
    /end: expected the end of the message, got 1 more bytes/,
  )
})

test('a message that inflates beyond the limit is refused before it does', () => {
  const encoded = encodeReplicatedBlock(randomReplicatedBlock(seededRandom(7), 1))
  const bomb = deflateRawSync(Buffer.alloc(MAX_MESSAGE_BYTES + 1), { level: constants.Z_BEST_SPEED })
  const payload = Buffer.concat([Uint8Array.of(MESSAGE_VERSION), bomb])
  assert.throws(
    () => decodeReplicatedBlock({ ...encoded, payload }),
    /payload: expected at most 67108864 bytes inflated, got more/,
  )
})

test('a message of another version, number, hash or parent than it is sent under is refused', () => {
  const encoded = encodeReplicatedBlock(randomReplicatedBlock(seededRandom(8), 3))
  const other = Buffer.from(encoded.payload)
  other[0] = 2
  assert.throws(() => decodeReplicatedBlock({ ...encoded, payload: other }), /version: expected 1, got 2/)
  assert.throws(
    () => decodeReplicatedBlock({ ...encoded, payload: Buffer.alloc(0) }),
    /version: expected 1 or 2, got no bytes/,
  )
  assert.throws(() => decodeReplicatedBlock({ ...encoded, number: 4 }), /number: expected block 4, got 3/)
  assert.throws(() => decodeReplicatedBlock({ ...encoded, hash: Buffer.alloc(32) }), /: hash: expected 0x0000/)
  const parentHash = Buffer.alloc(32, 1)
  assert.throws(() => decodeReplicatedBlock({ ...encoded, parentHash }), /parent hash: expected 0x0101/)
})

test('a block whose changes name an account or a slot twice is not encoded', () => {
  const block = randomReplicatedBlock(seededRandom(9), 1)
  const address = Buffer.alloc(20, 7)
  const gone = { address, incarnation: 1 }
  const slot = { address, incarnation: 0, slot: Buffer.alloc(32, 1), value: Buffer.alloc(0) }
  const encode = (changes: ReplicatedBlock['changes']) => encodeReplicatedBlock({ ...block, changes })
  assert.throws(() => encode({ accounts: [gone, gone], storage: [], codes: [] }), /an account is changed twice/)
  assert.throws(() => encode({ accounts: [], storage: [slot, slot], codes: [] }), /a slot is changed twice/)
})

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
