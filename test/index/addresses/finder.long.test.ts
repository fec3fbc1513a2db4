import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { auditBlocks } from '../../../src/audit/blocks.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { ADDRESS_INDEX } from '../../../src/index/addresses/appearanceIndex.js'
import { describeIndex } from '../../../src/index/segments/indexSummary.js'
import { verifyIndex } from '../../../src/index/segments/verifyIndex.js'
import { DeadlineExceeded } from '../../../src/lib/deadline.js'
import { parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { comparePages, readHistory } from '../../support/browser/addressPages.js'
import { growBranch, LOGGER, openBranches } from '../../support/chains/branches.js'
import { sourceOf } from '../../support/chains/fixture.js'
import { ABSENT_ACCOUNT } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

function open(t: TestContext, datadir: string) {
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => opened.close())
  return opened
}

test('all pages of every address of the fixture are those of a look at every transaction', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const { context, db } = open(t, datadir)
  const history = await readHistory(context)
  assert.ok(history.size >= 20, `${history.size} addresses`)
  assert.ok((await comparePages(context, history, { pageSizes: [3], mostStarts: 3 })) > 100)
  assert.equal((await readHistory(context, false)).has(ABSENT_ACCOUNT), false)
  await comparePages(context, new Map([[ABSENT_ACCOUNT, []]]), { pageSizes: [25] })
  assert.equal(auditBlocks(db).blocks, context.chain.head()! + 1)
})

test('pages of a random chain come from segments of two levels and the tail, also after reorgs', async (t) => {
  const random = seededRandom(16)
  const root = temporaryDirectory(t)
  const grow = (name: string, trunk: readonly Block[], count: number) =>
    growBranch(join(root, name), { trunk, count, random })
  const trunk = await grow('trunk', [], 320)
  const kept = trunk.slice(0, 150)
  const branch = await grow('branch', kept, 12)
  const datadir = join(root, 'data')
  const { db, chain } = await openBranches(datadir)
  t.after(() => db.close())
  const work = () => {
    chain.head.sealIndexes()
    while (chain.head.workOnIndexes(50));
  }
  const check = async () => {
    const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
    const history = await readHistory(context)
    await comparePages(context, history, { pageSizes: [3] })
    close()
    verifyIndex(db, ADDRESS_INDEX)
    auditBlocks(db)
    return describeIndex(db, ADDRESS_INDEX)
  }
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  work()
  const whole = await check()
  assert.deepEqual(
    whole.levels.map(({ level }) => level),
    [0, 1],
  )
  assert.ok(whole.tail > 0)

  chain.head.rewind(150, { byOperator: true })
  await importBlocks(chain, sourceOf(branch), { progress: noProgress })
  const { sealed } = await check()
  assert.ok(sealed < whole.sealed)
  work()
  await check()
})

test('a search ends at its deadline', async (t) => {
  const datadir = temporaryDirectory(t)
  const { db } = await openBranches(datadir)
  db.close()
  const blocks = await growBranch(join(datadir, 'more'), { trunk: [], count: 70, random: seededRandom(3) })
  const { db: own, chain } = await openBranches(datadir)
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
  own.close()
  const { context } = open(t, datadir)
  const deadline = {
    limitMs: 1,
    remainingMs: () => -1,
    check: () => {
      throw new DeadlineExceeded(1)
    },
  }
  const range = { fromBlock: 0, toBlock: 1_000, newestFirst: true, deadline }
  assert.throws(() => context.appearances.search(LOGGER, range, () => true), DeadlineExceeded)
  context.appearances.search(parseHex(ABSENT_ACCOUNT), range, () => true)
})
