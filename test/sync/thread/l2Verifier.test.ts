import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../../src/store/open.js'
import { createL2Verifier, L2VerifierFailed } from '../../../src/sync/thread/l2Verifier.js'
import { makeBlock, makeChain } from '../../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../../support/temporary.js'

test('threads give each block its own verdict', async (t) => {
  const verifier = createL2Verifier({ threads: 2 })
  t.after(() => verifier.close())
  const blocks = makeChain(1, 12).map((block, i) => (i % 3 === 0 ? { ...block, timestamp: 1 } : block))
  const verdicts = await Promise.all(blocks.map((block) => verifier.verify(block)))
  assert.deepEqual(
    verdicts.map(({ kind }) => kind),
    blocks.map((_, i) => (i % 3 === 0 ? 'mismatch' : 'match')),
  )
})

test('what is no felt fails that block alone', async (t) => {
  const verifier = createL2Verifier({ threads: 1 })
  t.after(() => verifier.close())
  const bad = {
    ...makeBlock({ number: 1 }),
    version: '',
    transactions: [{ hash: -1n, kind: 'INVOKE' as const, signature: [] }],
    transactionHashes: [-1n],
    counts: {},
  }
  await assert.rejects(verifier.verify(bad, 'mainnet'), L2VerifierFailed)
  assert.equal((await verifier.verify(makeBlock({ number: 1 }))).kind, 'match')
})

test('closing gives up what waits', async () => {
  const verifier = createL2Verifier({ threads: 1 })
  const waiting = makeChain(1, 5).map((block) => verifier.verify(block))
  const outcomes = Promise.allSettled(waiting)
  await verifier.close()
  for (const outcome of await outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof L2VerifierFailed)
  }
  await assert.rejects(verifier.verify(makeBlock({ number: 1 })), L2VerifierFailed)
})

test('a process that refuses a block waits for its threads to end', (t) => {
  const directory = temporaryDirectory(t)
  const [block] = readFileSync(packagePath('fixtures/chain/l2.ndjson'), 'utf8').split('\n')
  const path = join(directory, 'wrong.json')
  writeFileSync(path, block.replace('"timestamp":1', '"timestamp":2'))
  const cli = packagePath('dist/cli/main.js')
  const run = spawnSync(process.execPath, [cli, 'import', '--datadir', directory, path], { encoding: 'utf8' })
  assert.match(run.stderr, /is refused: block hash/)
  assert.equal(run.status, 1)
})
