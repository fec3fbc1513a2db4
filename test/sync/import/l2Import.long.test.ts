import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { InvalidL2Block } from '../../../src/chain/starknet/errors.js'
import type { L2Block } from '../../../src/chain/starknet/types.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { openL2File, UnreadableL2File } from '../../../src/sources/files/starknetFile.js'
import { L2NetworkMismatch } from '../../../src/store/l2/l2Writer.js'
import { importL2 } from '../../../src/sync/import/l2Import.js'
import { openL2Database, verifyHere } from '../../support/chains/l2.js'
import { makeBlock, makeChain, toRpcJson } from '../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

function open(t: TestContext) {
  const directory = temporaryDirectory(t)
  const database = openL2Database(directory)
  t.after(() => database.close())
  const write = (blocks: readonly (L2Block | string)[], name = 'blocks.ndjson') => {
    const path = join(directory, name)
    const lines = blocks.map((block) => (typeof block === 'string' ? block : JSON.stringify(toRpcJson(block))))
    writeFileSync(path, lines.join('\n'))
    return path
  }
  return { ...database, write }
}

test('a file of blocks is imported, verified, and again with nothing to do', async (t) => {
  const { reader, importFile, write } = open(t)
  const path = write(makeChain(0, 249))
  const first = await importFile(path)
  assert.equal(first.outcomes.stored, 250)
  assert.equal(first.verified, 250)
  assert.equal(reader.head()!.number, 249)
  const second = await importFile(path)
  assert.deepEqual([second.outcomes.stored, second.outcomes.skipped, second.verified], [0, 250, 0])
})

test('a wrong hash is refused by name; the blocks before it stay, nothing of it and after it is there', async (t) => {
  const { db, reader, importFile, write } = open(t)
  for (const position of [0, 1, 120, 199]) {
    const blocks = makeChain(0, 199)
    blocks[position] = { ...blocks[position], timestamp: 1 }
    await assert.rejects(importFile(write(blocks)), (error: unknown) => {
      assert.ok(error instanceof InvalidL2Block)
      assert.equal(error.blockNumber, position)
      assert.equal(error.check, 'block hash')
      return true
    })
    assert.equal(reader.head()?.number, position === 0 ? undefined : position - 1)
    const hashes = db.prepare('SELECT count(DISTINCT block_hash) FROM l2_block_txs').pluck().get()
    assert.equal(hashes, position)
  }
})

test('without verification a wrong hash is taken, and marked as not looked at', async (t) => {
  const { db, importFile, write } = open(t)
  const { verified, outcomes } = await importFile(write([makeBlock({ number: 1, hash: 77n })]), { verify: 'off' })
  assert.deepEqual([verified, outcomes.stored], [0, 1])
  assert.equal(db.prepare('SELECT verified FROM l2_blocks').pluck().get(), null)
})

test('a broken link inside a file is refused, those before it stay', async (t) => {
  const { reader, importFile, write } = open(t)
  const blocks = [...makeChain(0, 4), makeBlock({ number: 5, parentHash: 1n })]
  await assert.rejects(importFile(write(blocks)), /block 5 .*parent hash/)
  assert.equal(reader.head()!.number, 4)
})

test('a damaged line ends the import after everything before it is in', async (t) => {
  const { reader, importFile, write } = open(t)
  const path = write([...makeChain(0, 129), '{"half": '])
  await assert.rejects(
    importFile(path),
    (error: unknown) => error instanceof UnreadableL2File && error.where === `${path}:131`,
  )
  assert.equal(reader.head()!.number, 129)
})

test('blocks land in their order though verdicts come in another', async (t) => {
  const { reader, writer, write } = open(t)
  const answered: number[] = []
  const verify: typeof verifyHere = async (block, network) => {
    for (let turns = 7 - (block.number! % 8); turns > 0; turns--) await new Promise(setImmediate)
    answered.push(block.number!)
    return verifyHere(block, network)
  }
  const source = openL2File(write(makeChain(0, 30)))
  const { outcomes } = await importL2(source, writer, { verify, log: silentLogger, progress: noProgress })
  assert.notDeepEqual(
    answered,
    answered.toSorted((a, b) => a - b),
  )
  assert.equal(outcomes.stored, 31)
  assert.equal(reader.head()!.number, 30)
})

test('a stop keeps what was read so far, whole', async (t) => {
  const { reader, writer, write } = open(t)
  const controller = new AbortController()
  const verify: typeof verifyHere = (block, network) => {
    if (block.number === 40) controller.abort()
    return verifyHere(block, network)
  }
  const source = openL2File(write(makeChain(0, 199)))
  const options = { verify, log: silentLogger, progress: noProgress, signal: controller.signal }
  const summary = await importL2(source, writer, options)
  assert.ok(summary.interrupted)
  assert.equal(reader.head()!.number, 40)
  const again = await importL2(source, writer, { ...options, signal: undefined })
  assert.deepEqual([again.outcomes.skipped, again.outcomes.stored], [41, 159])
})

test('a stop does not wait for hashes under way', async (t) => {
  const { reader, writer, write } = open(t)
  const controller = new AbortController()
  const verify: typeof verifyHere = (block, network) => {
    if (block.number! < 3) return verifyHere(block, network)
    setImmediate(() => controller.abort())
    return new Promise(() => {}) // takes for ever
  }
  const source = openL2File(write(makeChain(0, 99)))
  const options = { verify, log: silentLogger, progress: noProgress, signal: controller.signal }
  const { interrupted, outcomes } = await importL2(source, writer, options)
  assert.deepEqual([interrupted, outcomes.stored, reader.head()!.number], [true, 3, 2])
})

test('the network is named once and holds from then on', async (t) => {
  const { reader, writer, importFile, write } = open(t)
  const path = write([makeBlock({ number: 1 })])
  await importFile(path, { network: 'sepolia' })
  assert.equal(reader.chainId(), 0x534e5f5345504f4c4941n)
  assert.equal(writer.network(), 'sepolia')
  await importFile(path)
  await assert.rejects(importFile(path, { network: 'mainnet' }), L2NetworkMismatch)
})

test('blocks that could not be verified are counted', async (t) => {
  const { importFile, write } = open(t)
  const [first, ...rest] = makeChain(0, 4)
  const lacking = rest.map((block) => ({ ...block, commitments: {} }))
  const { verified, unverifiable, outcomes } = await importFile(write([first, ...lacking]))
  assert.deepEqual([verified, unverifiable, outcomes.stored], [1, 4, 5])
})

test('a fuller recording replaces a held one, and less never does', async (t) => {
  const [full] = makeChain(7, 7)
  const bare = { ...full, commitments: {}, counts: {} }
  const other = { ...full, sequencer: undefined, commitments: {} } // has the counts, not the sequencer
  for (const [order, replaced, skipped] of [
    [[bare, full], 1, 0],
    [[full, bare], 0, 1],
    [[bare, other, full], 1, 1],
    [[full, full], 0, 1],
  ] as const) {
    const { db, importFile, write } = open(t)
    const counts = { replaced: 0, skipped: 0 }
    for (const block of order) {
      const { outcomes } = await importFile(write([block]))
      counts.replaced += outcomes.replaced
      counts.skipped += outcomes.skipped
    }
    assert.deepEqual(counts, { replaced, skipped })
    const row = db.prepare('SELECT verified, event_count, sequencer FROM l2_blocks').get() as Record<string, unknown>
    assert.deepEqual([row.verified, row.event_count], [1, 3])
    assert.ok(row.sequencer)
    assert.equal(db.prepare('SELECT count(*) FROM l2_block_txs').pluck().get(), 2)
  }
})

test('within one file, too, the fullest recording of a block stays', async (t) => {
  const [full] = makeChain(7, 7)
  const bare = { ...full, commitments: {}, counts: {} }
  const { db, importFile, write } = open(t)
  const { outcomes } = await importFile(write([bare, full, bare, full]))
  assert.deepEqual([outcomes.stored, outcomes.replaced, outcomes.skipped], [1, 1, 2])
  assert.equal(db.prepare('SELECT verified FROM l2_blocks').pluck().get(), 1)
})

test('an unverified recording does not replace a verified one, nor change the transactions of another', async (t) => {
  const [full] = makeChain(7, 7)
  const { db, importFile, write } = open(t)
  const bare = { ...full, commitments: {}, counts: {} }
  await importFile(write([bare]))
  const forged = { ...full, transactionHashes: [1n, 2n] }
  await assert.rejects(importFile(write([forged]), { verify: 'off' }), /hash of transaction 0: expected 0x47, got 0x1/)
  await importFile(write([full]))
  const richer = JSON.stringify({ ...toRpcJson(forged), transactions: [] })
  await importFile(write([richer]), { verify: 'off' })
  assert.equal(db.prepare('SELECT count(*) FROM l2_block_txs').pluck().get(), 2)
})
