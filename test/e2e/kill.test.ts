import { test } from 'node:test'
import { checkKills, fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { THOROUGH } from '../support/thorough.js'

const bounds = THOROUGH ? { kills: 10, leastHeads: 4 } : { kills: 1, leastHeads: 1 }

test(`an import killed ${bounds.kills} times resumes, with logs and contract state`, async (t) => {
  await checkKills(t, { ...bounds, args: fixtureBlockByBlock(t), seed: 9, writes: 500, delayMs: 1300 })
})

const skip = THOROUGH ? SKIP_SHARED : 'takes seconds: npm run test:thorough'

test('an import of mainnet killed again and again resumes', { skip }, async (t) => {
  const args = ['--network', 'mainnet', sharedPath('chains', 'mainnet-00000-5ec1ffb8.era1')!]
  await checkKills(t, { ...bounds, args, seed: 2, writes: 400, delayMs: 2000 })
})
