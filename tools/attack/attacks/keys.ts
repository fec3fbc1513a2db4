import type { Attack } from '../attack.js'
import { ask, inParallel, rpcText } from '../sockets.js'

/** Keys that are tried out. */
export const guessedKeys: Attack = {
  name: 'guessed keys',
  what: '16 clients that try one API key after another',
  async run(attacker) {
    const { target, random, signal } = attacker
    await inParallel(16, signal, async () => {
      const path = `/v3/${Buffer.from(random.bytes(16)).toString('hex')}`
      await ask({ ...attacker, target: { ...target, path } }, rpcText('eth_blockNumber', []))
    })
  },
}
