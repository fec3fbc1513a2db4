import { test } from 'node:test'
import { checkHistory } from '../../support/chains/headHistory.js'
import { THOROUGH } from '../../support/thorough.js'

// Reorgs of 40 blocks reach below segments.
const SIZE = THOROUGH ? { steps: 60, most: 40, killEvery: 5 } : { steps: 12, most: 8, killEvery: 6 }

for (const seed of THOROUGH ? [1, 2, 3] : [1]) {
  test(`after random appends, reorgs, rewinds and kills of seed ${seed} a database is that of a chain imported in one go`, async (t) => {
    await checkHistory(t, { seed, ...SIZE })
  })
}
