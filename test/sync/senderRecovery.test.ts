import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { noProgress } from '../../src/lib/progress.js'
import { openChainRlp } from '../../src/sources/files/chainRlp.js'
import { SenderRecovery } from '../../src/sources/senders/senderRecovery.js'
import type { BlockSource, RawBlock } from '../../src/sources/source.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { encodeChain, fixtureBlocks, fixtureGenesis } from '../support/chains/fixture.js'
import { checkDatabase, digestDatabase } from '../support/compare/checkDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const path = join(temporaryDirectory({ after }), 'chain.rlp')
writeFileSync(path, encodeChain(fixtureBlocks()))

async function openChain(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => db.close())
  return { datadir, chain: await openWritableChain(db, { genesis: fixtureGenesis() }, 'execute') }
}

function openRecovery(t: TestContext) {
  const recovery = new SenderRecovery({ cores: 2, minTransactions: 0 })
  t.after(() => recovery.close())
  return recovery
}

/** The file, with `before` called before each block. */
function watchedFile(before: (raw: RawBlock) => void | Promise<void>): BlockSource {
  const file = openChainRlp(path)
  const blocks = async function* (range: Parameters<BlockSource['blocks']>[0]) {
    for await (const raw of file.blocks(range)) {
      await before(raw)
      yield raw
    }
  }
  return { ...file, blocks }
}

/** What an import without the thread stores. */
async function importWithout(t: TestContext) {
  const { datadir, chain } = await openChain(t)
  await importBlocks(chain, openChainRlp(path), { progress: noProgress })
  return [checkDatabase(datadir), digestDatabase(datadir)]
}

test('an import stores the same with the thread, also when it dies', async (t) => {
  const wanted = await importWithout(t)
  for (const dies of [false, true]) {
    const { datadir, chain } = await openChain(t)
    const senderRecovery = openRecovery(t)
    const source = watchedFile(async ({ block }) => {
      if (block.header.number !== 5) return
      assert.equal(senderRecovery.isRunning, true)
      if (dies) await senderRecovery.recover({ counts: [1], memory: new SharedArrayBuffer(1) })
    })
    await importBlocks(chain, source, { progress: noProgress, senderRecovery })
    assert.equal(senderRecovery.isRunning, !dies)
    assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], wanted)
  }
})

test('an import that is stopped leaves no thread, and resumes', async (t) => {
  const { datadir, chain } = await openChain(t)
  const stop = new AbortController()
  const senderRecovery = openRecovery(t)
  const source = watchedFile(({ block }) => {
    if (block.header.number === 20) stop.abort()
  })
  const options = { progress: noProgress, senderRecovery }
  const stopped = await importBlocks(chain, source, { ...options, signal: stop.signal })
  assert.deepEqual(stopped, { imported: 19, skipped: 0, interrupted: true })
  assert.equal(senderRecovery.isRunning, true)
  await senderRecovery.close()
  assert.equal(senderRecovery.isRunning, false)
  await importBlocks(chain, openChainRlp(path), { progress: noProgress, senderRecovery: openRecovery(t) })
  assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], await importWithout(t))
})
