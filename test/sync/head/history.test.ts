import { test } from 'node:test'
import { checkHistory } from '../../support/chains/headHistory.js'

test('after random appends, reorgs, rewinds and kills a database is that of a chain imported in one go', async (t) => {
  await checkHistory(t, { seed: 131, steps: 12, most: 8, killEvery: 6 })
})
