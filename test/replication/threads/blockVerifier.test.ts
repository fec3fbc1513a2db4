import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { verifyReplicated } from '../../../src/replication/apply/verifyReplicated.js'
import { encodeReplicatedBlock } from '../../../src/replication/codec/message.js'
import { InvalidMessage } from '../../../src/replication/errors.js'
import { createBlockVerifier } from '../../../src/replication/threads/blockVerifier.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { fixtureGenesis } from '../../support/chains/fixture.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { encodeStored, readReplicated } from '../../support/nats/replicated.js'
import { temporaryDirectory } from '../../support/temporary.js'

test('a thread verifies blocks as the writer would, and names what is wrong', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const chain = createChainReader(db)
  const verifier = createBlockVerifier({ genesis: fixtureGenesis() })
  t.after(() => verifier.close())
  const blocks = encodeStored(db, 1, chain.head()!)
  const taken = await Promise.all(blocks.map((block) => verifier.verify(block)))
  // Payloads of sources are often views of larger buffers, and stay as they are.
  const buffers = blocks.map((block) => ({ ...block, payload: Buffer.concat([block.payload, block.payload]) }))
  const views = buffers.map((block) => ({ ...block, payload: block.payload.subarray(block.payload.length / 2) }))
  assert.ok((await Promise.all(views.map((block) => verifier.verify(block)))).every(({ isRight }) => isRight))
  for (const [i, { payload }] of views.entries()) assert.ok(equalBytes(payload, blocks[i].payload))
  const spec = chain.spec()
  for (const [i, verdict] of taken.entries()) {
    assert.equal(verdict.isRight, true)
    assert.deepEqual(verdict.take(), verifyReplicated(blocks[i], spec))
  }
  const last = readReplicated(db, chain.head()!)
  const header = { ...last.block.header, receiptsRoot: new Uint8Array(32) }
  const wrong = encodeReplicatedBlock({ ...last, block: { ...last.block, header, hash: hashHeader(header) } })
  const signed = blocks.map((_, i) => readReplicated(db, i + 1)).find(({ block }) => block.transactions.length > 0)!
  const [first, ...others] = signed.block.transactions
  const transactions = [{ ...first, from: new Uint8Array(20).fill(9) }, ...others]
  const forged = encodeReplicatedBlock({ ...signed, block: { ...signed.block, transactions } })
  const damaged = { ...blocks[0], payload: blocks[0].payload.subarray(0, 40) }
  const [ofForged, ofWrong, ofDamaged] = await Promise.all(
    [forged, wrong, damaged].map((block) => verifier.verify(block)),
  )
  assert.equal(ofForged.isRight, false)
  assert.throws(ofForged.take, { name: 'InvalidBlock', check: 'sender of transaction 0' })
  // Of a sample, each sender is one of those that are recovered, at random.
  let refused = 0
  for (let tries = 0; tries < 2_000 && refused === 0; tries++) {
    const { isRight, take } = await verifier.verify(forged, 'sample')
    if (isRight) continue
    refused++
    assert.throws(take, { name: 'InvalidBlock', check: 'sender of transaction 0' })
  }
  assert.equal(refused, 1)
  assert.equal(ofWrong.isRight || ofDamaged.isRight, false)
  assert.throws(ofDamaged.take, InvalidMessage)
  assert.throws(ofWrong.take, InvalidBlock)
  await verifier.close()
  // What comes after the end is verified where it is taken.
  const { take } = await verifier.verify(blocks[0])
  assert.deepEqual(take(), verifyReplicated(blocks[0], spec))
})
