import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { createConnectionHealth } from '../../../src/replication/failover/connectionHealth.js'
import type { ReplicationStatus } from '../../../src/sync/replicationStatus.js'

const OWN: ReplicationStatus = {
  ...{ role: 'replica', epoch: 1, sequence: 9, lagBlocks: 0, lagSeconds: 0, state: 'following', problem: null },
}

function openContact() {
  let ms = 0
  const contact = createConnectionHealth(silentLogger, () => ms)
  const at = (nowMs: number, own: Partial<ReplicationStatus> = {}) => {
    ms = nowMs
    const { state, lagSeconds, problem } = contact.addTo({ ...OWN, ...own })
    return [state, lagSeconds, problem]
  }
  const lagAt = (nowMs: number, own: Partial<ReplicationStatus> = {}) => {
    ms = nowMs
    const { lagBlocks, lagSeconds, problem } = contact.addTo({ ...OWN, ...own })
    return [lagBlocks, lagSeconds, problem]
  }
  return { contact, at, lagAt }
}

test('seconds count as lag while there is a problem, from the last answer on', () => {
  const { contact, at } = openContact()
  contact.onConnectionHealth()
  assert.deepEqual(at(4_000), ['following', 0, null]) // silent, and nothing is wrong yet
  contact.onProblem('lost')
  assert.deepEqual(at(4_000), ['following', 4, 'lost'])
  assert.deepEqual(at(90_000), ['following', 90, 'lost'])
  assert.deepEqual(at(90_000, { lagSeconds: 100 }), ['following', 100, 'lost'])
  assert.deepEqual(at(90_000, { state: 'alarm', problem: 'forged' }), ['alarm', 90, 'forged'])
  contact.onConnectionHealth()
  contact.onProblem(null)
  assert.deepEqual(at(91_000), ['following', 0, null])
})

test('a source that answers and has a problem all the same is no lag', () => {
  const { contact, at } = openContact()
  contact.onProblem('waiting for the writer to publish block 7')
  for (let ms = 0; ms < 10_000; ms += 500) {
    at(ms)
    contact.onConnectionHealth()
    assert.deepEqual(at(ms), ['following', 0, 'waiting for the writer to publish block 7'])
  }
})

test('before the first answer of its source a replica has not caught up', () => {
  const { contact, at } = openContact()
  assert.deepEqual(at(1_000), ['catching up', 0, null])
  contact.onProblem('refused')
  assert.deepEqual(at(2_000), ['catching up', 2, 'refused'])
  assert.deepEqual(at(2_000, { state: 'failed', problem: 'x' }), ['failed', 2, 'x'])
  contact.onProblem(null)
  assert.deepEqual(at(3_000), ['catching up', 0, null])
  contact.onConnectionHealth()
  assert.deepEqual(at(3_000), ['following', 0, null])
})

test('blocks behind are not known once neither the source nor a writer was heard of for 10 s', () => {
  const { contact, lagAt } = openContact()
  const noWriter = 'no server has the lease of the writer: the lag is unknown'
  contact.onConnectionHealth()
  assert.deepEqual(lagAt(60_000, { lagBlocks: 3 }), [3, 0, null]) // the lease is not watched
  contact.onWriter()
  assert.deepEqual(lagAt(70_000, { lagBlocks: 3 }), [3, 0, null]) // a standby has time to take over
  assert.deepEqual(lagAt(70_001, { lagBlocks: 3 }), [null, 10, noWriter])
  assert.deepEqual(lagAt(130_000), [null, 70, noWriter])
  contact.onWriter()
  assert.deepEqual(lagAt(130_500), [0, 0, null])
  contact.onProblem('lost')
  contact.onConnectionHealth()
  contact.onWriter()
  assert.deepEqual(lagAt(140_400), [0, 9, 'lost'])
  assert.deepEqual(lagAt(141_000), [null, 10, 'lost'])
  contact.onProblem(null)
  contact.onConnectionHealth()
  contact.onWriter(false) // it may not be read
  assert.deepEqual(lagAt(999_000), [0, 0, null])
})
