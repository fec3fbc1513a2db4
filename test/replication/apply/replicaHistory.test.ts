import { test } from 'node:test'
import { checkReplicaHistory } from '../../support/nats/replicaHistory.js'
import { THOROUGH } from '../../support/thorough.js'

const SEEDS = THOROUGH ? 20 : 1
const SIZE = THOROUGH ? { steps: 30, most: 12, killEvery: 4 } : { steps: 10, most: 6, killEvery: 5 }

test('after random units, reorgs, restarts and kills a replica has the rows and the proofs of its writer', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) await checkReplicaHistory(t, { seed, ...SIZE })
})
