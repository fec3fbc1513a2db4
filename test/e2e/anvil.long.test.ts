import { test } from 'node:test'
import { startAnvilPeer } from '../support/anvil.js'
import { checkFollowing } from '../support/followPeer.js'
import { findFoundry } from '../support/foundry.js'

const path = findFoundry('anvil')
const skip = path === undefined && 'anvil cannot be installed'

test('anvil is followed through 5,000 blocks and reorgs of 1, 5 and 64 blocks, and every answer is its own', {
  skip,
}, async (t) => {
  // From Prague on each block takes anvil longer than the one before: it hashes the whole history of EIP-2935.
  await checkFollowing(t, await startAnvilPeer(t, path!, ['--hardfork', 'cancun']), {
    blocks: 5_000,
    depths: [1, 5, 64],
  })
})

test('anvil is followed with its newest hard fork', { skip }, async (t) => {
  await checkFollowing(t, await startAnvilPeer(t, path!, []), { blocks: 200, depths: [30] })
})
