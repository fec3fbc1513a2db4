import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { createConnectionHealth } from '../../../src/replication/failover/connectionHealth.js'
import type { ReplicationStatus } from '../../../src/sync/replicationStatus.js'

const OWN: ReplicationStatus = {
  ...{ role: 'replica', epoch: 1, sequence: 9, lagBlocks: 0, lagSeconds: 0, state: 'following', problem: null },
}

function openHealth() {
  let ms = 0
  const health = createConnectionHealth(silentLogger, () => ms)
  const at = (nowMs: number, own: Partial<ReplicationStatus> = {}) => {
    ms = nowMs
    const { state, lagSeconds, problem } = health.addTo({ ...OWN, ...own })
    return [state, lagSeconds, problem]
  }
  const lagAt = (nowMs: number, own: Partial<ReplicationStatus> = {}) => {
    ms = nowMs
    const { lagBlocks, lagSeconds, problem } = health.addTo({ ...OWN, ...own })
    return [lagBlocks, lagSeconds, problem]
  }
  return { health, at, lagAt }
}

test('seconds count as lag while there is a problem, from the last answer on', () => {
  const { health, at } = openHealth()
  health.onActivity()
  assert.deepEqual(at(4_000), ['following', 0, null]) // silent, and nothing is wrong yet
  health.onProblem('lost')
  assert.deepEqual(at(4_000), ['following', 4, 'lost'])
  assert.deepEqual(at(90_000), ['following', 90, 'lost'])
  assert.deepEqual(at(90_000, { lagSeconds: 100 }), ['following', 100, 'lost'])
  assert.deepEqual(at(90_000, { state: 'alarm', problem: 'forged' }), ['alarm', 90, 'forged'])
  health.onActivity()
  health.onProblem(null)
  assert.deepEqual(at(91_000), ['following', 0, null])
})

test('a source that answers and has a problem all the same is no lag', () => {
  const { health, at } = openHealth()
  health.onProblem('waiting for the writer to publish block 7')
  for (let ms = 0; ms < 10_000; ms += 500) {
    at(ms)
    health.onActivity()
    assert.deepEqual(at(ms), ['following', 0, 'waiting for the writer to publish block 7'])
  }
})

test('before the first answer of its source a replica has not caught up', () => {
  const { health, at } = openHealth()
  assert.deepEqual(at(1_000), ['catching up', 0, null])
  health.onProblem('refused')
  assert.deepEqual(at(2_000), ['catching up', 2, 'refused'])
  assert.deepEqual(at(2_000, { state: 'failed', problem: 'x' }), ['failed', 2, 'x'])
  health.onProblem(null)
  assert.deepEqual(at(3_000), ['catching up', 0, null])
  health.onActivity()
  assert.deepEqual(at(3_000), ['following', 0, null])
})

test('blocks behind are not known once neither the source nor a writer was heard of for 10 s', () => {
  const { health, lagAt } = openHealth()
  const noWriter = 'no server has the lease of the writer: the lag is unknown'
  health.onActivity()
  assert.deepEqual(lagAt(60_000, { lagBlocks: 3 }), [3, 0, null]) // the lease is not watched
  health.onWriter()
  assert.deepEqual(lagAt(70_000, { lagBlocks: 3 }), [3, 0, null]) // a standby has time to take over
  assert.deepEqual(lagAt(70_001, { lagBlocks: 3 }), [null, 10, noWriter])
  assert.deepEqual(lagAt(130_000), [null, 70, noWriter])
  health.onWriter()
  assert.deepEqual(lagAt(130_500), [0, 0, null])
  health.onProblem('lost')
  health.onActivity()
  health.onWriter()
  assert.deepEqual(lagAt(140_400), [0, 9, 'lost'])
  assert.deepEqual(lagAt(141_000), [null, 10, 'lost'])
  health.onProblem(null)
  health.onActivity()
  health.onWriter(false) // it may not be read
  assert.deepEqual(lagAt(999_000), [0, 0, null])
})
