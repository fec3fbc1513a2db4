import { test } from 'node:test'
import { checkReplicaHistory } from '../../support/nats/replicaHistory.js'

test('after random units, reorgs, restarts and kills a replica has the rows and the proofs of its writer', async (t) => {
  await checkReplicaHistory(t, { seed: 181, steps: 10, most: 6, killEvery: 5 })
})
