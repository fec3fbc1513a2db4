import { test } from 'node:test'
import { checkKills, fixtureBlockByBlock } from '../support/chains/killedImport.js'

test('an import that is killed resumes', async (t) => {
  const args = fixtureBlockByBlock(t)
  await checkKills(t, { args, seed: 9, kills: 1, leastHeads: 1, writes: 500, delayMs: 1300 })
})
