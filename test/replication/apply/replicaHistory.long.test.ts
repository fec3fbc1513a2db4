import { test } from 'node:test'
import { checkReplicaHistory } from '../../support/nats/replicaHistory.js'
import { THOROUGH } from '../../support/thorough.js'

test('after long random histories a replica has the rows and the proofs of its writer', async (t) => {
  for (let seed = 1; seed <= (THOROUGH ? 20 : 1); seed++) {
    await checkReplicaHistory(t, { seed, steps: THOROUGH ? 30 : 16, most: 12, killEvery: 4 })
  }
})
