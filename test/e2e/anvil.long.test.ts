import { test } from 'node:test'
import { THOROUGH } from '../support/thorough.js'
import { startAnvilPeer } from '../support/upstream/anvil.js'
import { checkFollowing } from '../support/upstream/followPeer.js'
import { findFoundry } from '../support/upstream/foundry.js'

const path = findFoundry('anvil')
const skip = path === undefined && 'anvil cannot be installed'

const BLOCKS = THOROUGH ? 5_000 : 250

test(`anvil is followed through ${BLOCKS} blocks and reorgs of 1, 5 and 64 blocks, and every answer is its own`, {
  skip,
}, async (t) => {
  // From Prague on each block takes anvil longer than the one before: it hashes the whole history of EIP-2935.
  await checkFollowing(t, await startAnvilPeer(t, path!, { args: ['--hardfork', 'cancun'] }), {
    blocks: BLOCKS,
    depths: [1, 5, 64],
  })
})

test('anvil is followed with its newest hard fork', { skip }, async (t) => {
  await checkFollowing(t, await startAnvilPeer(t, path!), { blocks: 200, depths: [30] })
})
