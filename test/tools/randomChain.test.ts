import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '../../src/lib/logger.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { importFiles, readGenesisFile } from '../../src/sync/import/importFiles.js'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { verifyHere } from '../support/chains/l2.js'
import { temporaryDirectory } from '../support/temporary.js'

test('a random chain is the same for the same seed, goes through every fork, and every block of it is accepted', async (t) => {
  const chain = await buildRandomChain(11)
  const again = await buildRandomChain(11)
  assert.equal(again.genesis, chain.genesis)
  assert.deepEqual(again.chainRlp, chain.chainRlp)
  const folder = temporaryDirectory(t)
  const [genesis, file] = ['genesis.json', 'chain.rlp'].map((name) => join(folder, name))
  writeFileSync(genesis, chain.genesis)
  writeFileSync(file, chain.chainRlp)
  const importing = { stateMode: 'execute', l2Verify: verifyHere, log: silentLogger, showProgress: false } as const
  await importFiles({ datadir: folder, paths: [file], chain: readGenesisFile(genesis), ...importing })
  const db = openForReading(folder)
  t.after(() => db.close())
  const reader = createChainReader(db)
  assert.equal(reader.head(), chain.head)
  const newest = reader.blockByNumber(chain.head)!
  assert.equal(reader.rulesOf(newest).fork, 'amsterdam')
  assert.ok(chain.transactions > 80)
})
