import { test } from 'node:test'
import { checkHistory } from '../../support/chains/headHistory.js'
import { THOROUGH } from '../../support/thorough.js'

for (const seed of THOROUGH ? [1, 2, 3] : [1]) {
  test(`a long history of seed ${seed}, with reorgs that reach below segments, is that of a chain imported in one go`, async (t) => {
    await checkHistory(t, { seed, steps: THOROUGH ? 60 : 16, most: 40, killEvery: 5 })
  })
}
