import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { auditL2 } from '../../../src/audit/l2.js'
import { InvalidL2Block } from '../../../src/chain/starknet/errors.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import { L2ReorgBelowAccepted } from '../../../src/store/l2/l2Writer.js'
import { openL2Database } from '../../support/chains/l2.js'
import { makeBlock, makeChain, makePending, toRpcJson, UNCHECKED } from '../../support/chains/l2Blocks.js'
import { makeEventChain, rawOf as rawWithReceipts } from '../../support/chains/l2EventChain.js'
import { temporaryDirectory } from '../../support/temporary.js'

type After = { after(callback: () => void): void }

const rawOf = (block: L2Block) => deflateSync(JSON.stringify(toRpcJson(block)))
const asNew = (block: L2Block) => ({ block, verdict: UNCHECKED, raw: rawOf(block) })
const refOf = ({ number, hash }: L2Block) => ({ number: number!, hash: hash! })

/** Blocks 1 to 5, and a branch of three blocks that leaves them after block 3. */
function openFork(t: After) {
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  const chain = makeChain(1, 5)
  for (const block of chain) database.writer.importBlock(block, UNCHECKED, rawOf(block))
  const branch: L2Block[] = []
  for (let number = 4; number <= 6; number++) {
    branch.push(makeBlock({ number, parentHash: (branch.at(-1) ?? chain[2]).hash, newRoot: 77n }))
  }
  return { ...database, chain, branch }
}

test('a reorg takes the old blocks from the chain, which are REJECTED from then on, and puts the new ones there', (t) => {
  const { db, writer, reader, chain, branch } = openFork(t)
  writer.importBlock(makePending({ parentHash: chain[4].hash }), UNCHECKED)
  writer.replaceBranch(3, branch.map(asNew))
  for (const { number, hash } of [...chain.slice(0, 3), ...branch]) {
    assert.equal(reader.blockByNumber(number!)!.hash, hash)
    assert.equal(reader.blockByHash(hash!)!.status, 'ACCEPTED_ON_L2')
  }
  for (const { hash } of chain.slice(3)) assert.equal(reader.blockByHash(hash!)!.status, 'REJECTED')
  assert.equal(reader.pending(), undefined)
  assert.equal(auditL2(db).blocks, 8)
})

test('a block that comes back after a reorg is canonical again', (t) => {
  const { db, writer, reader, chain, branch } = openFork(t)
  writer.replaceBranch(3, branch.map(asNew))
  writer.replaceBranch(3, chain.slice(3).map(asNew))
  assert.deepEqual(reader.head(), refOf(chain[4]))
  assert.deepEqual(
    branch.map(({ hash }) => reader.blockByHash(hash!)!.status),
    ['REJECTED', 'REJECTED', 'REJECTED'],
  )
  assert.equal(auditL2(db).blocks, 8)
})

test('a block that comes back without receipts has the events of its recording again', (t) => {
  const { db, writer, close } = openL2Database(temporaryDirectory(t))
  t.after(close)
  const chain = makeEventChain(6, 2)
  for (const block of chain) writer.importBlock(block, UNCHECKED, rawWithReceipts(block))
  const eventsOf = () => db.prepare('SELECT * FROM l2_events ORDER BY number').all()
  const termsOf = () => db.prepare('SELECT * FROM l2_event_terms ORDER BY term, number').all()
  const [events, terms] = [eventsOf(), termsOf()]
  writer.replaceBranch(3, [makeBlock({ number: 4, parentHash: chain[3].hash })].map(asNew))
  assert.notDeepEqual(eventsOf(), events)
  const bare = chain.slice(4).map((block) => ({ ...block, receipts: undefined }))
  writer.replaceBranch(3, bare.map(asNew))
  assert.deepEqual([eventsOf(), termsOf()], [events, terms])
  assert.equal(auditL2(db).blocks, 7)
})

test('a branch with a block that does not link leaves the chain as it was', (t) => {
  const { writer, reader, chain, branch } = openFork(t)
  const stray = makeBlock({ number: 5, parentHash: 99n })
  assert.throws(() => writer.replaceBranch(3, [branch[0], stray].map(asNew)), InvalidL2Block)
  assert.deepEqual(reader.head(), refOf(chain[4]))
  assert.equal(reader.blockByHash(branch[0].hash!), undefined)
})

test('a reorg below the head accepted on layer 1 is refused', (t) => {
  const { writer, reader, chain, branch } = openFork(t)
  assert.equal(writer.acceptOnL1(4), true)
  assert.equal(writer.acceptOnL1(3), false, 'it never goes back')
  assert.throws(
    () => writer.replaceBranch(3, branch.map(asNew)),
    (error: unknown) => {
      assert.ok(error instanceof L2ReorgBelowAccepted)
      assert.deepEqual([error.ancestor, error.acceptedOnL1], [3, 4])
      return true
    },
  )
  assert.deepEqual(reader.head(), refOf(chain[4]))
})
