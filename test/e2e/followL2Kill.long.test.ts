import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createL2Reader } from '../../src/store/l2/l2Reader.js'
import { openForReading } from '../../src/store/open.js'
import { spawnCairn } from '../support/cairn.js'
import { openL2Database } from '../support/chains/l2.js'
import { growL2 } from '../support/chains/l2Blocks.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { checkL2Chain } from '../support/upstream/followL2.js'
import { nodeBlock, startL2Node } from '../support/upstream/l2Node.js'

async function followKilled(t: TestContext, option: '--l2-upstream' | '--l2-feeder', kills: number): Promise<void> {
  const random = seededRandom(146)
  let chain = growL2([], THOROUGH ? 60 : 30)
  const node = await startL2Node(t, chain)
  const datadir = temporaryDirectory(t)
  const start = () => spawnCairn(['sync', '--datadir', datadir, option, node.url])
  for (let kill = 0; kill < kills; kill++) {
    const sync = start()
    await sync.waitFor('stderr', /"msg":"(syncing|following)"/)
    chain = growL2(chain.slice(0, chain.length - random.below(10)), 1 + random.below(20), kill + 1)
    node.become(chain.map(nodeBlock))
    await delay(random.below(80))
    sync.child.kill('SIGKILL')
    await sync.ended
    const { db, close } = openL2Database(datadir)
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
    close()
  }
  const sync = start()
  const reader = openForReading(datadir)
  const { head } = createL2Reader(reader)
  await until(() => head()?.hash === chain.at(-1)!.hash)
  reader.close()
  sync.child.kill('SIGTERM')
  assert.equal((await sync.ended).code, 0)
  const database = openL2Database(datadir)
  checkL2Chain(database, node)
  database.close()
}

test('SIGKILL while cairn sync follows a node leaves a sound database; following resumes', (t) =>
  followKilled(t, '--l2-upstream', THOROUGH ? 4 : 2))

test('SIGKILL while cairn sync follows a feeder gateway leaves a sound database; following resumes', (t) =>
  followKilled(t, '--l2-feeder', THOROUGH ? 3 : 2))
