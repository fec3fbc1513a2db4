import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLagCheck } from '../../../src/server/admin/lag.js'
import type { FollowStatus } from '../../../src/sync/follow/status.js'
import type { ReplicationStatus } from '../../../src/sync/replicationStatus.js'
import type { IngestWorker } from '../../../src/sync/thread/ingestWorker.js'
import { parseExposition } from '../../support/exposition.js'
import { post, request, startTestServer } from '../../support/serving.js'

const REPLICA: ReplicationStatus = {
  ...{ role: 'replica', epoch: 7, sequence: 1234, lagBlocks: 0, lagSeconds: 0, state: 'following', problem: null },
}

function checkOf(maxLag: number | undefined, first: Partial<ReplicationStatus> = {}, maxLagSeconds?: number) {
  let status: ReplicationStatus = { ...REPLICA, ...first }
  const check = createLagCheck({ replication: () => status, following: () => null, maxLag, maxLagSeconds })
  return (change: Partial<ReplicationStatus> = {}) => {
    status = { ...status, ...change }
    return check()
  }
}

test('a replica may be asked up to 16 blocks behind, or as many as the operator says', () => {
  for (const [maxLag, limit] of [
    [undefined, 16],
    [3, 3],
  ] as const) {
    const check = checkOf(maxLag)
    assert.equal(check(), undefined)
    assert.equal(check({ lagBlocks: limit, state: 'catching up' }), undefined)
    const problem = `${limit + 1} blocks behind, at most ${limit} are allowed (--max-lag)`
    assert.equal(check({ lagBlocks: limit + 1 }), problem)
    assert.equal(
      check({ lagBlocks: 0, role: 'standby', state: 'failed', problem: 'a gap' }),
      'the replica has stopped: a gap',
    )
  }
  const unlimited = checkOf(0, { state: 'catching up' })
  assert.equal(unlimited(), undefined)
  assert.equal(unlimited({ lagBlocks: 1_000, state: 'alarm' }), undefined)
})

test('a replica that was just started is not asked before it has caught up once', () => {
  const check = checkOf(undefined, { state: 'catching up' })
  assert.equal(check(), 'the replica has not caught up yet')
  assert.equal(check({ state: 'following' }), undefined)
  assert.equal(check({ state: 'catching up', lagBlocks: 1 }), undefined)
})

test('a replica may be 60 s behind, or as many as the operator says', () => {
  const lost = { lagSeconds: 61, problem: 'NATS: lost the connection' }
  const refusal = (limit: number) =>
    `61 s behind, at most ${limit} are allowed (--max-lag-seconds): NATS: lost the connection`
  assert.equal(checkOf(undefined)({ ...lost, lagSeconds: 60 }), undefined)
  assert.equal(checkOf(undefined)(lost), refusal(60))
  assert.equal(checkOf(undefined, {}, 5)(lost), refusal(5))
  assert.equal(checkOf(undefined, {}, 0)(lost), undefined)
  assert.equal(checkOf(0)(lost), undefined)
  assert.equal(checkOf(0, {}, 60)(lost), refusal(60))
  assert.equal(checkOf(3)({ ...lost, lagBlocks: null, lagSeconds: 11 }), undefined) // a standby has time to take over
  assert.equal(checkOf(3)({ ...lost, lagBlocks: null }), refusal(60))
})

test('a server with upstreams has a limit only if the operator sets one', () => {
  const following = { block: 10, upstreamBlock: 40 } as FollowStatus
  const check = (maxLag: number | undefined, status: FollowStatus | null = following) =>
    createLagCheck({ replication: () => undefined, following: () => status, maxLag, maxLagSeconds: undefined })()
  assert.equal(check(undefined), undefined)
  assert.equal(check(30), undefined)
  assert.equal(check(29), '30 blocks behind, at most 29 are allowed (--max-lag)')
  assert.equal(check(1, { ...following, upstreamBlock: null }), undefined)
  assert.equal(check(1, null), undefined)
})

test('a follower with a limit that has been stopped for a minute is not ready, since its lag is unknown', () => {
  const check = (seconds: number, maxLag: number | undefined, maxLagSeconds?: number) => {
    const stopped = { block: 11, check: 'connection', reason: 'http://node: refused', seconds }
    const following = { block: 10, upstreamBlock: 10, stopped } as FollowStatus
    return createLagCheck({ replication: () => undefined, following: () => following, maxLag, maxLagSeconds })()
  }
  const refusal = (seconds: number, limit: number) =>
    `stopped at block 11 for ${seconds} s, at most ${limit} are allowed (--max-lag-seconds): connection: http://node: refused`
  assert.equal(check(1e6, undefined), undefined)
  assert.equal(check(60, 5), undefined)
  assert.equal(check(61, 5), refusal(61, 60))
  assert.equal(check(11, undefined, 10), refusal(11, 10))
  assert.equal(check(1e6, 5, 0), undefined)
})

test('health, readiness, metrics and status report the role in replication', async (t) => {
  let status: ReplicationStatus = REPLICA
  const ingest: IngestWorker = {
    status: () => ({ l1: null, l2: null }),
    pending: () => undefined,
    replication: () => status,
    close: async () => {},
  }
  const metrics = { onRpcPort: true, ownPort: undefined }
  const { url, warm } = await startTestServer(t, { ingest, metrics, methodsModule: undefined })
  await warm()
  const ready = async () => {
    const response = await fetch(`${url}/ready`)
    return { status: response.status, body: await response.json() }
  }
  assert.deepEqual(await ready(), { status: 200, body: { ready: true, problem: null } })
  const page = parseExposition(await (await fetch(`${url}/metrics`)).text())
  assert.deepEqual(
    ['writer', 'replica', 'standby', 'none'].map((role) => page.value('cairn_replication_role', { role })),
    [0, 1, 0, 0],
  )
  assert.equal(page.value('cairn_replication_state', { state: 'following' }), 1)
  assert.equal(page.value('cairn_replication_epoch'), 7)
  assert.equal(page.value('cairn_replication_sequence'), 1234)
  status = { ...REPLICA, lagBlocks: 17, lagSeconds: 2.5, state: 'catching up' }
  const error = '17 blocks behind, at most 16 are allowed (--max-lag)'
  assert.deepEqual(await ready(), { status: 503, body: { ready: false, error, problem: null } })
  const health = (await (await fetch(`${url}/health`)).json()) as { ready: boolean; replication: ReplicationStatus }
  assert.deepEqual([health.ready, health.replication], [false, status])
  status = { ...status, lagBlocks: null }
  const { json } = await post(url, request('cairn_getStatus'))
  const { problem: _, ...facts } = status
  assert.deepEqual((json.result as { replication: unknown }).replication, facts)
})
