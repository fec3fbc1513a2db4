import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runCairnOk } from '../support/cairn.js'
import { compareSeed, type ServedChain, SPARSE_LIMITS, serveRandomChain } from '../support/compare/sparseAnswers.js'
import { compareSparseRows, findSparseDifference } from '../support/compare/sparseRows.js'
import { type Member, startMember } from '../support/members.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber } from '../support/until.js'

/* Replicas of a writer with sparse state, over HTTP. */

const REQUESTS = THOROUGH ? 2_000 : 60

const writerArgs = ({ complete, genesis, first }: ServedChain) => [
  ...['--genesis', genesis, '--state', 'sparse', '--from', String(first), '--upstream', complete.url],
  ...['--state-fetch', 'proofs', '--replication', ...SPARSE_LIMITS],
]

const startReplica = (t: TestContext, { genesis }: ServedChain, writer: Member) =>
  startMember(t, temporaryDirectory(t), [
    ...['--genesis', genesis, '--state', 'sparse', '--replica', writer.url, ...SPARSE_LIMITS],
  ])

/** Resolves when the replica has all rows of the writer. */
async function untilEqual(replica: Member, writer: Member): Promise<void> {
  await until(() => findSparseDifference(replica.datadir, writer.datadir) === undefined, 30_000).catch(() => {})
  compareSparseRows(replica.datadir, writer.datadir, 'the replica')
}

test('a replica of a random chain gets all rows, those that requests fetch too, and answers as the complete one', async (t) => {
  const chain = await serveRandomChain(t, 1)
  const writer = await startMember(t, temporaryDirectory(t), writerArgs(chain))
  await untilBlockNumber(writer, chain.head)
  const early = await startReplica(t, chain, writer)
  await untilBlockNumber(early, chain.head)
  await untilEqual(early, writer)
  const { differences, compared } = await compareSeed(writer, chain, 5, REQUESTS)
  assert.deepEqual(differences.slice(0, 3), [])
  t.diagnostic(`${compared} answers compared`)
  await untilEqual(early, writer)
  const late = await startReplica(t, chain, writer)
  await untilBlockNumber(late, chain.head)
  await untilEqual(late, writer)
  const own = await compareSeed(late, chain, 5, REQUESTS)
  assert.deepEqual(own.differences.slice(0, 3), [])
  for (const each of [writer, early, late]) {
    await each.stop()
    assert.match(await runCairnOk(['verify', '--datadir', each.datadir]), /^state: roots of \d+ blocks, /m)
  }
})
