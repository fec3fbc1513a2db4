import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommitFigures } from '../../bench/sync/commits.js'
import type { EngineFigures } from '../../bench/sync/engine.js'
import type { FollowFigures } from '../../bench/sync/follow.js'
import type { SyncRate } from '../../bench/sync/rates.js'
import type { ReorgFigures } from '../../bench/sync/reorgs.js'
import type { SparseFigures } from '../../bench/sync/sparse.js'
import type { StartFigures } from '../../bench/sync/start.js'
import type { SubscriptionFigures } from '../../bench/sync/subscriptions.js'
import { runShortBench } from '../support/shortBench.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { findFoundry } from '../support/upstream/foundry.js'

interface Report {
  rates: SyncRate[]
  reorgs: ReorgFigures
  commits: CommitFigures
  engine: EngineFigures[]
  start: StartFigures
  subscriptions: SubscriptionFigures[]
  follow: FollowFigures
  sparse: SparseFigures
}

/** Each command and each transport once. */
const WAYS = ['import from file', 'sync over HTTP without state', 'serve --upstream over WebSocket']

test('bench:sync: no query meets a chain between two branches, and subscribers get each block', async (t) => {
  const { rates, reorgs, commits, engine, start, subscriptions } = await runShortBench<Report>(t, 'sync', {
    phases: ['rates', 'reorgs', 'commits', 'engine', 'start', 'subscriptions'],
    args: [
      ...'--blocks 3 --depth 3 --reorgs 2 --rest 300 --commits 3 --starts 1'.split(' '),
      ...'--subscribers 20 --subscriber-blocks 3 --logs 10'.split(' '),
      ...(THOROUGH ? [] : ['--ways', WAYS.join(';')]),
    ],
  })
  if (THOROUGH) assert.equal(rates.length, 6)
  else
    assert.deepEqual(
      Array.from(rates, ({ name }) => name),
      WAYS,
    )
  for (const { name, blocksPerSecond, share } of rates) assert.ok(blocksPerSecond > 0 && share > 0, name)
  assert.deepEqual([reorgs.depth, reorgs.reorgs, reorgs.mixed], [3, 2, 0])
  assert.ok(reorgs.transactionMs.p50 > 0 && reorgs.noticeMs.p50 >= reorgs.transactionMs.p50)
  assert.ok(reorgs.queries.otherwise.count > 10)
  assert.ok(commits.upstreamToSubscriber.p99 > 0)
  assert.deepEqual(
    engine.map(({ server, blocks, payloadMs }) => [server, blocks, payloadMs.p50 > 0]),
    [['Cairn', 3, true]],
  )
  assert.ok(start.ready.medianMs > 0 && start.answer.medianMs > 0)
  assert.deepEqual(
    subscriptions.map(({ server, commitToLast }) => [server, commitToLast!.p50 > 0]),
    [['Cairn', true]],
  )
})

const skip = findFoundry('anvil') === undefined && 'anvil cannot be installed'

test('bench:sync: each block that is announced after anvil announced it is served', { skip }, async (t) => {
  const args = '--history 20 --follows 5 --transactions 2 --interval 1'
  const { follow } = await runShortBench<Report>(t, 'sync', { phases: ['follow'], args })
  assert.deepEqual([follow.blocks, follow.transactions], [5, 2])
})

test('bench:sync: with sparse state, each block needs requests, and a call of what is known none', async (t) => {
  const args = `--accounts 1000 --block-percent 25 --sparse-blocks 4 --window 2 --state-dir ${temporaryDirectory(t)}`
  const measure = async (followers: string) =>
    (await runShortBench<Report>(t, 'sync', { phases: ['sparse'], args: `${args} --followers ${followers}` })).sparse
  const made = await measure('execute,proofs')
  // On the state that the first run kept.
  const sparse = await measure(THOROUGH ? 'witness,auto' : 'auto')
  assert.deepEqual([sparse.accounts, sparse.slots, sparse.block], [made.accounts, made.slots, made.block])
  const followers = [...made.followers, ...sparse.followers]
  const [execute, proofs, ...withWitnesses] = followers
  assert.deepEqual(
    followers.map(({ name }) => name),
    ['execute', 'proofs', ...(THOROUGH ? ['witness'] : []), 'auto'],
  )
  assert.equal(execute.first.requests.messages, 0)
  assert.ok(proofs.first.requests.accounts > 10 && proofs.first.requests.slots > 10)
  assert.equal(proofs.first.requests.witnesses, 0)
  for (const { name, first } of withWitnesses) assert.ok(first.requests.witnesses > 0, name)
  for (const { name, first, last, sizes, anonymousMb } of followers) {
    assert.ok(anonymousMb! > 20, name)
    assert.ok(sizes.find(({ part }) => part === 'logs')!.items >= 4 * 62, name)
    assert.ok(first.processorMs > 0 && first.diskBytes > 0, name)
    assert.ok(last.requests.accounts <= first.requests.accounts, name)
  }
  for (const { name, requests } of sparse.calls) {
    assert.ok(requests[0] > 0, name)
    assert.deepEqual(requests.slice(1), Array(9).fill(0), name)
  }
  assert.ok(sparse.calls[0].requests[0] < sparse.calls[1].requests[0])
  // The hint; then proofs and codes.
  assert.equal(sparse.calls[0].rounds[0], 2)
})
