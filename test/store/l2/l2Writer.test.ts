import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deflateSync, inflateSync } from 'node:zlib'
import { InvalidL2Block } from '../../../src/chain/starknet/errors.js'
import { L2NetworkMismatch } from '../../../src/store/l2/l2Writer.js'
import { openL2Database } from '../../support/chains/l2.js'
import { makeBlock, makeChain, makePending, UNCHECKED } from '../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

function open(t: TestContext) {
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  return database
}

function checkIs(check: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof InvalidL2Block)
    assert.match(error.check, check)
    for (const part of [String(error.blockNumber), error.check, error.expected, error.actual]) {
      assert.ok(error.message.includes(part), `${error.message} has ${part}`)
    }
    return true
  }
}

test('a block comes back as it was stored, prices beyond 2^64 included', (t) => {
  const { reader, writer } = open(t)
  const block = makeBlock({ number: 7 })
  assert.equal(writer.importBlock(block, UNCHECKED), 'stored')
  const held = reader.blockByNumber(7)!
  const { commitments, counts, transactionHashes, status, ...header } = block
  assert.deepEqual(held, { ...header, ...commitments, ...counts, status })
  assert.deepEqual(reader.transactionHashes(held), transactionHashes)
  assert.deepEqual(reader.blockByHash(block.hash!), held)
  assert.deepEqual(reader.head(), { number: 7, hash: block.hash })
})

test('what was not recorded stays absent', (t) => {
  const { reader, writer } = open(t)
  const block = makeBlock({ number: 0, hash: 5n })
  writer.importBlock(
    { ...block, sequencer: undefined, version: '', prices: {}, daMode: undefined, commitments: {}, counts: {} },
    UNCHECKED,
  )
  const held = reader.blockByNumber(0)!
  assert.equal(held.sequencer, undefined)
  assert.equal(held.version, undefined)
  assert.deepEqual(
    Object.values(held.prices).filter((price) => price !== undefined),
    [],
  )
  assert.deepEqual([held.daMode, held.transactionCommitment, held.eventCount], [undefined, undefined, undefined])
})

test('the recording and the verdict are stored with the block', (t) => {
  const { db, writer } = open(t)
  const raw = deflateSync('{"a":1}')
  const [a, b, c] = makeChain(1, 3)
  writer.importBlock(a, { kind: 'match', inputs: { eventCommitment: 99n } }, raw)
  writer.importBlock(b, { kind: 'unverifiable', reason: '' })
  writer.importBlock(c, { kind: 'incomplete', reason: '' })
  const rows = db
    .prepare('SELECT verified, raw, upstream_status, event_commitment FROM l2_blocks ORDER BY number')
    .all()
  const [first, second, third] = rows as {
    verified: number
    raw: Buffer
    upstream_status: string
    event_commitment: Buffer
  }[]
  assert.deepEqual([first.verified, second.verified, third.verified], [1, 0, null])
  assert.equal(inflateSync(first.raw).toString(), '{"a":1}')
  assert.equal(first.upstream_status, 'ACCEPTED_ON_L2')
  assert.equal(first.event_commitment.at(-1), 99, 'what the hash covers is kept, not what the header names')
})

test('a block whose parent is stored under another hash is refused, and so is one whose child is', (t) => {
  const { reader, writer } = open(t)
  const [a, b, c] = makeChain(1, 3)
  writer.importBlock(a, UNCHECKED)
  assert.throws(() => writer.importBlock({ ...b, parentHash: 99n }, UNCHECKED), checkIs(/^parent hash/))
  writer.importBlock(c, UNCHECKED)
  assert.throws(() => writer.importBlock({ ...b, hash: 99n }, UNCHECKED), checkIs(/^block hash/))
  assert.equal(reader.blockByNumber(2), undefined)
  assert.equal(writer.importBlock(b, UNCHECKED), 'stored')
})

test('gaps are allowed', (t) => {
  const { reader, writer } = open(t)
  for (const number of [770, 0, 200]) writer.importBlock(makeBlock({ number }), UNCHECKED)
  assert.equal(reader.head()!.number, 770)
  assert.equal(reader.blockByNumber(1), undefined)
})

test('another hash at a stored number is refused', (t) => {
  const { writer } = open(t)
  writer.importBlock(makeBlock({ number: 1 }), UNCHECKED)
  assert.throws(
    () => writer.importBlock(makeBlock({ number: 1, newRoot: 5n }), UNCHECKED),
    checkIs(/^canonical block$/),
  )
})

test('a verdict against the block refuses it', (t) => {
  const { reader, writer } = open(t)
  const verdict = { kind: 'mismatch', check: 'event commitment', expected: '0x1', actual: '0x2' } as const
  assert.throws(() => writer.importBlock(makeBlock({ number: 1 }), verdict), checkIs(/^event commitment$/))
  assert.equal(reader.head(), undefined)
})

test('the same block again is skipped, and promoted with all below it once layer 1 has accepted it', (t) => {
  const { reader, writer } = open(t)
  const [a, b, c] = makeChain(1, 3)
  for (const block of [a, b, c]) writer.importBlock(block, UNCHECKED)
  assert.equal(writer.importBlock(b, UNCHECKED), 'skipped')
  assert.equal(writer.importBlock({ ...b, status: 'ACCEPTED_ON_L1' }, UNCHECKED), 'promoted')
  assert.equal(writer.importBlock({ ...b, status: 'ACCEPTED_ON_L1' }, UNCHECKED), 'skipped')
  assert.equal(writer.importBlock({ ...a, status: 'ACCEPTED_ON_L1' }, UNCHECKED), 'skipped')
  const statuses = [1, 2, 3].map((number) => reader.blockByNumber(number)!.status)
  assert.deepEqual(statuses, ['ACCEPTED_ON_L1', 'ACCEPTED_ON_L1', 'ACCEPTED_ON_L2'])
  assert.equal(reader.blockAcceptedOnL1()!.number, 2)
})

test('the finality source of a file is kept', (t) => {
  const { db, writer } = open(t)
  const block = makeBlock({ number: 4, status: 'ACCEPTED_ON_L1' })
  writer.importBlock(block, UNCHECKED)
  const row = db.prepare('SELECT l1_head_number, finality_source FROM l2_state').get()
  assert.deepEqual(row, { l1_head_number: 4, finality_source: 'file' })
})

test('a block that the upstream gave up is found by its hash only', (t) => {
  const { reader, writer } = open(t)
  for (const [i, status] of (['REJECTED', 'REVERTED', 'ABORTED'] as const).entries()) {
    const block = makeBlock({ number: 3, status, newRoot: BigInt(i) })
    assert.equal(
      writer.importBlock({ ...block, parentHash: undefined, newRoot: undefined }, UNCHECKED),
      'rejected-upstream',
    )
    assert.equal(writer.importBlock(block, UNCHECKED), 'skipped')
    assert.equal(reader.blockByHash(block.hash!)!.status, 'REJECTED')
    assert.throws(() => writer.importBlock({ ...block, status: 'ACCEPTED_ON_L2' }, UNCHECKED), checkIs(/^status$/))
  }
  assert.equal(reader.blockByNumber(3), undefined)
  assert.equal(reader.head(), undefined)
})

test('a block given up upstream is refused all the same when its hash is wrong', (t) => {
  const { reader, writer } = open(t)
  const block = makeBlock({ number: 3, status: 'REVERTED' })
  const verdict = { kind: 'mismatch', check: 'block hash', expected: '0x1', actual: '0x2' } as const
  assert.throws(() => writer.importBlock(block, verdict), checkIs(/^block hash$/))
  assert.equal(reader.blockByHash(block.hash!), undefined)
})

test('a canonical block is not given up because a file says so', (t) => {
  const { reader, writer } = open(t)
  const block = makeBlock({ number: 3 })
  writer.importBlock(block, UNCHECKED)
  assert.throws(() => writer.importBlock({ ...block, status: 'REVERTED' }, UNCHECKED), checkIs(/^status$/))
  assert.equal(reader.blockByNumber(3)!.status, 'ACCEPTED_ON_L2')
})

test('an unconfirmed block stands on its parent, at its number, or on the head', (t) => {
  const { reader, writer } = open(t)
  const [a, b] = makeChain(1, 2)
  writer.importBlock(a, UNCHECKED)
  writer.importBlock(b, UNCHECKED)
  const place = () => {
    const { number, parentHash } = reader.pending()!
    return { number, parentHash }
  }
  for (const values of [{ parentHash: b.hash }, { number: 3 }, {}]) {
    assert.equal(writer.importBlock(makePending(values), UNCHECKED), 'pending')
    assert.deepEqual(place(), { number: 3, parentHash: b.hash })
  }
  writer.importBlock(makePending({ parentHash: 12345n }), UNCHECKED)
  assert.deepEqual(place(), { number: undefined, parentHash: 12345n })
  const { transactionHashes, prices, timestamp } = reader.pending()!
  assert.deepEqual(
    { transactionHashes, prices, timestamp },
    { transactionHashes: [71n, 72n], prices: { l1Wei: 7n }, timestamp: 1_700_000_999 },
  )
})

test('an unconfirmed block that the head has reached is skipped', (t) => {
  const { reader, writer } = open(t)
  const [a, b, c] = makeChain(1, 3)
  for (const block of [a, b, c]) writer.importBlock(block, UNCHECKED)
  for (const values of [{ number: 3 }, { number: 2 }, { parentHash: b.hash }]) {
    assert.equal(writer.importBlock(makePending(values), UNCHECKED), 'skipped')
  }
  assert.equal(reader.pending(), undefined)
})

test('an unconfirmed block goes when a block takes its number or its parent', (t) => {
  const { reader, writer } = open(t)
  const [a, b, c, d] = makeChain(1, 4)
  writer.importBlock(a, UNCHECKED)
  writer.importBlock(makePending({ number: 2 }), UNCHECKED)
  writer.importBlock(b, UNCHECKED)
  assert.equal(reader.pending(), undefined)
  writer.importBlock(makePending({ parentHash: c.hash }), UNCHECKED)
  writer.importBlock(c, UNCHECKED)
  assert.equal(reader.pending()!.number, 4, 'its parent came, and determined its number')
  writer.importBlock(d, UNCHECKED)
  assert.equal(reader.pending(), undefined)
})

test('a database holds one network', (t) => {
  const { reader, writer } = open(t)
  assert.equal(reader.chainId(), undefined)
  writer.importBlock(makeBlock({ number: 1 }), { kind: 'match', inputs: {}, chainId: 'SN_GOERLI' })
  assert.equal(reader.chainId(), 0x534e5f474f45524c49n)
  assert.throws(() => writer.setNetwork('mainnet'), L2NetworkMismatch)
  writer.setNetwork('integration-goerli')
  assert.equal(writer.network(), 'integration-goerli')
  assert.throws(() => writer.setNetwork('goerli'), L2NetworkMismatch)
  const other = { kind: 'match', inputs: {}, chainId: 'SN_MAIN' } as const
  assert.throws(() => writer.importBlock(makeBlock({ number: 5 }), other), checkIs(/^network$/))
})

test('the view for analysts decodes felts, prices and status', (t) => {
  const { db, writer } = open(t)
  writer.importBlock(makeBlock({ number: 4, hash: 0xabcn, status: 'ACCEPTED_ON_L1' }), UNCHECKED)
  const row = db
    .prepare('SELECT number, hash, status, transaction_count, l2_gas_price_fri, l1_da_mode FROM v_l2_blocks')
    .get()
  assert.deepEqual(row, {
    number: 4,
    hash: '0xabc',
    status: 'ACCEPTED_ON_L1',
    transaction_count: 2,
    l2_gas_price_fri: (2n ** 100n).toString(),
    l1_da_mode: 'BLOB',
  })
})
