import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noProgress } from '../../src/lib/progress.js'
import { encodeBody } from '../../src/replication/codec/message.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStoredBlocks } from '../../src/store/replication/blockReader.js'
import type { StateChanges } from '../../src/store/rows/stateChanges.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { fixtureBlocks, fixtureGenesis, sourceOf } from '../support/chains/fixture.js'
import { temporaryDirectory } from '../support/temporary.js'

test('the message of a block made from rows is the one made at its execution, for every block of the bundled chain', async (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const chain = await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute', { blockAccessLists: true })
  const executed: { number: number; body: string; codes: number; slots: number; gone: number }[] = []
  const append = chain.head.append.bind(chain.head)
  chain.head.append = (block, parts) => {
    const changes = parts.changes as StateChanges // those of the executor
    const gone = changes!.accounts.filter(({ account }) => account === undefined).length
    const counts = { codes: changes!.codes.length, slots: changes!.storage.length, gone }
    executed.push({
      number: block.header.number,
      body: encodeBody({ block, ...parts, changes }).toString('hex'),
      ...counts,
    })
    append(block, parts)
  }
  await importBlocks(chain, sourceOf(fixtureBlocks()), { progress: noProgress })
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const stored = createStoredBlocks(reading)
  for (const { number, body } of executed) {
    assert.equal(encodeBody(stored.read(number)!).toString('hex'), body, `block ${number}`)
  }
  assert.equal(executed.length, fixtureBlocks().length)
  for (const kind of ['codes', 'slots'] as const)
    assert.ok(
      executed.some((each) => each[kind] > 0),
      `no block has ${kind}`,
    )
  assert.equal(stored.read(executed.length + 1), undefined)
})
