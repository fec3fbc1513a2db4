import { test } from 'node:test'
import { THOROUGH } from '../support/thorough.js'
import { checkFollowing } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'

test('geth --dev is followed through many blocks and debug_setHead by 1, 5 and 64 blocks, and every answer is its own', {
  skip: SKIP_GETH,
}, async (t) => {
  await checkFollowing(t, await startGethPeer(t), { blocks: THOROUGH ? 500 : 70, depths: [1, 5, 64] })
})

test('geth --dev is followed with a block a second', { skip: SKIP_GETH }, async (t) => {
  await checkFollowing(t, await startGethPeer(t, ['--dev.period', '1']), { blocks: THOROUGH ? 10 : 6, depths: [2] })
})
