import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EncodedBlock, ReplicationUnit } from '../../../src/replication/codec/types.js'
import { createStreamAssembler } from '../../../src/replication/nats/assembler.js'
import { decodeHead, encodeHead, type MessageHead } from '../../../src/replication/nats/messageHead.js'
import type { StreamMessage } from '../../../src/replication/nats/stream.js'
import { messagesOf, type OutgoingMessage } from '../../../src/replication/nats/unitMessages.js'
import type { BlockRef } from '../../../src/sync/head/events.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

const STREAM = { name: 'CAIRN_5@now', subject: 'cairn.5.00000000.block' }
const GENESIS = { number: 0, hash: new Uint8Array(32) }

/** Units as a writer makes them, from the genesis on. */
function randomUnits(random: SeededRandom, count: number): ReplicationUnit[] {
  let chain: { number: number; hash: Uint8Array }[] = [GENESIS]
  const next = (): EncodedBlock => {
    const { number, hash } = chain.at(-1)!
    const block = {
      number: number + 1,
      hash: random.bytes(32),
      parentHash: hash,
      payload: random.bytes(random.below(60)),
    }
    chain.push({ number: block.number, hash: block.hash })
    return block
  }
  return Array.from({ length: count }, (): ReplicationUnit => {
    const finality = random.below(4) === 0 ? undefined : { safe: random.below(9) - 1, finalized: random.below(9) - 1 }
    const kind = random.below(9)
    const before = random.below(100)
    const range = { before, after: before + random.below(5) }
    const state = random.below(2) === 0 ? undefined : range
    if (kind === 0) return { kind: 'finality', finality: { safe: random.below(5), finalized: -1 }, state }
    if (kind === 8)
      return { kind: 'state', head: chain.at(-1)!, payload: random.bytes(1 + random.below(90)), state: range }
    if (kind > 2) return { kind: 'blocks', ancestor: undefined, blocks: [next()], finality, state }
    chain = chain.slice(0, 1 + random.below(chain.length))
    const ancestor = { ...chain.at(-1)! }
    return { kind: 'blocks', ancestor, blocks: Array.from({ length: random.below(5) }, next), finality, state }
  })
}

/** The messages of units, each with the head before it. */
function messagesOfAll(units: readonly ReplicationUnit[], epoch: number, maxBytes: number): OutgoingMessage[][] {
  let top: BlockRef = GENESIS
  return units.map((unit) => {
    const messages = messagesOf(unit, { epoch, top, maxBytes })
    top = messages.at(-1)!.head.block
    return messages
  })
}

const sent = (sequence: number, { head, data }: OutgoingMessage): StreamMessage => ({
  ...{ sequence, subject: STREAM.subject, id: '', data },
  head: () => decodeHead(encodeHead(head)),
})

const assemble = (epoch = 1, sequence = 1) => createStreamAssembler({ stream: STREAM, sequence, top: GENESIS, epoch })

test('units come out of their messages as they went in, in parts of any size', () => {
  const random = seededRandom(1)
  for (let round = 0; round < 60; round++) {
    const units = randomUnits(random, 20)
    const assembler = assemble()
    const messages = messagesOfAll(units, 1, 1 + random.below(70)).flat()
    const taken = messages
      .map((message, i) => assembler.take(sent(1 + i, message)))
      .filter((each) => each !== undefined)
    assert.deepEqual(
      taken.map(({ unit }) => unit),
      units,
    )
    assert.equal(taken.at(-1)?.position.sequence, messages.length)
  }
})

test('a unit whose writer ended within it is dropped when another writer begins, and comes once', () => {
  const random = seededRandom(2)
  for (let round = 0; round < 80; round++) {
    const units = randomUnits(random, 6)
    const sizes = 1 + random.below(40)
    const all = messagesOfAll(units, 1, sizes)
    const cutUnit = random.below(all.length)
    const cut = [...all.slice(0, cutUnit).flat(), ...all[cutUnit].slice(0, random.below(all[cutUnit].length))]
    const top = cutUnit === 0 ? GENESIS : all[cutUnit - 1].at(-1)!.head.block
    const epoch = messagesOf({ kind: 'epoch', epoch: 2, head: top }, { epoch: 2, top, maxBytes: 1 })
    const again = messagesOfAll(units, 2, sizes).slice(cutUnit)
    const assembler = assemble()
    const taken = [...cut, ...epoch, ...again.flat()]
      .map((message, i) => assembler.take(sent(1 + i, message)))
      .filter((each) => each !== undefined)
    assert.deepEqual(
      taken.map(({ unit }) => unit).filter(({ kind }) => kind !== 'epoch'),
      units,
    )
    // Without the epoch message of the new writer it is refused.
    const other = assemble()
    const messages = [...cut, ...messagesOfAll(units, 1, sizes).slice(cutUnit).flat()]
    const isWithin = cut.length > 0 && cut.at(-1)!.head.unit.index < cut.at(-1)!.head.unit.count
    const run = () => messages.forEach((message, i) => void other.take(sent(1 + i, message)))
    if (isWithin) assert.throws(run, /Cairn-Unit|Cairn-Kind/)
    else run()
  }
})

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const block = (number: number): EncodedBlock => ({
  ...{ number, hash: hash(number), parentHash: hash(number - 1), payload: Uint8Array.of(1, 2, 3) },
})
const one = (number: number): ReplicationUnit => ({ kind: 'blocks', blocks: [block(number)], finality: undefined })
const ancestor = { number: 1, hash: hash(1) }
const reorg: ReplicationUnit = { kind: 'blocks', ancestor, blocks: [block(2), block(3)], finality: undefined }

test('messages that are lost, reordered, forged or of a stale writer are refused by name', () => {
  const plain = messagesOfAll([one(1), one(2), one(3)], 4, 100).flat()
  const parts = messagesOfAll([one(1)], 4, 1).flat()
  const branch = messagesOfAll([one(1), reorg], 4, 100).flat()
  const change = (message: OutgoingMessage, head: Partial<MessageHead>) => ({
    ...message,
    head: { ...message.head, ...head },
  })
  const end = messagesOf(
    { kind: 'epoch', epoch: 5, head: { number: 9, hash: hash(9) } },
    { epoch: 5, top: GENESIS, maxBytes: 1 },
  )
  const cases: [string, OutgoingMessage[], RegExp][] = [
    ['reordered', [plain[0], plain[2]], /Cairn-Number: expected 2, got 3/],
    ['twice', [plain[0], plain[0]], /Cairn-Number: expected 2, got 1/],
    ['another parent', [change(plain[0], { parentHash: hash(9) })], /Cairn-Parent: expected 0x0{64}, got 0x09/],
    ['a part lost', [parts[0], parts[2]], /Cairn-Unit: expected 2\/3, got 3\/3/],
    ['parts in another order', [parts[1]], /Cairn-Unit: expected 1, got 2/],
    ['a unit cut', [parts[0], plain[1]], /Cairn-Unit: expected 2\/3, got 1\/1/],
    ['a reorg cut', [branch[0], branch[1], plain[2]], /Cairn-Unit: expected 2\/2, got 1\/1/],
    ['a reorg above the head', [change(branch[1], { reorg: { ...ancestor, count: 2 } })], /Cairn-(Before|Reorg)/],
    ['a stale writer', [plain[0], change(plain[1], { epoch: 3 })], /a message of epoch 3 came after one of epoch 4/],
    ['an epoch from nowhere', [change(plain[0], { epoch: 5 })], /Cairn-Epoch: expected 4, got 5 without/],
    ['an epoch at another head', end, /Cairn-Hash: expected block 0 .*got block 9/],
  ]
  for (const [name, messages, expected] of cases) {
    const assembler = assemble(4)
    assert.throws(() => messages.forEach((message, i) => void assembler.take(sent(1 + i, message))), expected, name)
  }
  const assembler = assemble(4)
  assert.throws(() => assembler.take(sent(2, plain[0])), /stream CAIRN_5@now: expected 1 next, got 2/)
  const foreign = { ...sent(1, plain[0]), subject: 'cairn.6.00000000.block' }
  assert.throws(() => assembler.take(foreign), /subject: expected cairn.5.00000000.block, got cairn.6/)
})

test('what a unit may take is limited: blocks of a reorg, bytes of a block, messages', () => {
  const payload = new Uint8Array(2 ** 20)
  const large = { ...block(1), payload: new Uint8Array(65 * 2 ** 20) }
  const messages = messagesOfAll([{ kind: 'blocks', blocks: [large], finality: undefined }], 1, payload.length).flat()
  const assembler = assemble()
  const run = () => messages.forEach((message, i) => void assembler.take(sent(1 + i, message)))
  assert.throws(run, /body: expected at most 67108864 bytes of a block/)
  const many = messagesOfAll([reorg], 1, 100).flat()[0]
  const head = { ...many.head, unit: { index: 1, count: 2000 }, reorg: { ...GENESIS, count: 2000 }, before: GENESIS }
  assert.throws(() => assemble().take(sent(1, { ...many, head })), /Cairn-Reorg: expected 1 to 1024 blocks, got 2000/)
})

test('headers that are not as they should be are refused by name', () => {
  const [message] = messagesOfAll([one(1)], 1, 100).flat()
  const faults: [string, string, RegExp][] = [
    ['Format', '3', /Cairn-Format: expected 1 or 2, got 3: the writer is newer/],
    ['Format', '2', /Cairn-State: expected before:after, got none/],
    ['Kind', 'gossip', /Cairn-Kind: expected block, state, rewind, epoch or finality, got gossip/],
    ['Epoch', '1e3', /Cairn-Epoch: expected a number, got 1e3/],
    ['Number', '-1', /Cairn-Number: expected a number, got -1/],
    ['Hash', 'AB', /Cairn-Hash: expected 64 hex digits, got AB/],
    ['Parent', '', /Cairn-Parent: expected 64 hex digits, got none/],
    ['Part', '2/1', /Cairn-Part: expected i\/n/],
    ['Unit', '1/999999', /Cairn-Unit: expected i\/n of at most 65536, got 1\/999999/],
    ['Reorg', `1:${'0'.repeat(64)}`, /Cairn-Reorg: expected/],
    ['Before', 'x', /Cairn-Before: expected a number, got x/],
    ['Safe', 'x', /Cairn-Safe: expected a number, got x/],
  ]
  for (const [name, value, expected] of faults) {
    const headers = encodeHead(message.head)
    headers.set(`Cairn-${name}`, value)
    assert.throws(() => decodeHead(headers), expected, name)
  }
  assert.throws(() => decodeHead(undefined), /Cairn-Format: expected 1 or 2, got none/)
})
