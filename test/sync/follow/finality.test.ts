import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { growBranch, importInOneGo, openBranches } from '../../support/chains/branches.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { followHere } from '../../support/upstream/followHere.js'
import { startForkingUpstream } from '../../support/upstream/forkingUpstream.js'
import { openChainAnswers } from '../../support/upstream/scriptedUpstream.js'

test('safe and finalized stay where they are when the upstream goes back, has none, is ahead, or names other blocks', async (t) => {
  const random = seededRandom(157)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 14, random })
  const others = await growBranch(temporaryDirectory(t), { trunk: trunk.slice(0, 2), count: 30, random })
  const elsewhere = temporaryDirectory(t)
  await importInOneGo(elsewhere, [...trunk.slice(0, 2), ...others])
  const answers = openChainAnswers(elsewhere)
  t.after(answers.close)
  const other = async (number: number) =>
    (await answers.result('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as object
  const upstream = await startForkingUpstream(t, trunk.slice(0, 8))
  upstream.tags = { safe: 6, finalized: 4 }
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  const followed = followHere(t, chain, [upstream.wsUrl])
  await followed.finalizes(4)
  const flapping = [
    { safe: 2, finalized: 1 },
    { safe: null, finalized: null },
    { safe: await other(7), finalized: await other(5) }, // of another branch
    { safe: await other(31), finalized: await other(30) }, // far ahead of the head
    { safe: 3, finalized: await other(6) },
  ]
  for (const [i, tags] of flapping.entries()) {
    upstream.tags = tags
    const asked = upstream.finalizedAsked
    await upstream.become(trunk.slice(0, 9 + i))
    await followed.reaches(trunk[8 + i].hash)
    while (upstream.finalizedAsked === asked) await delay(2)
    assert.deepEqual(chain.reader.finality(), { safe: 6, finalized: 4 })
  }
  upstream.tags = { safe: null, finalized: 8 }
  await upstream.become(trunk)
  await followed.finalizes(8)
  assert.deepEqual(chain.reader.finality(), { safe: 8, finalized: 8 }, 'what is final is safe')
  const seen = followed.events.flatMap((event) => (event.kind === 'finalized' ? [[event.safe, event.finalized]] : []))
  assert.deepEqual(seen, [
    [0, 0],
    [6, 4],
    [8, 8],
  ])
})
