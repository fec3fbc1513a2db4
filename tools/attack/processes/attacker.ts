import { setMaxListeners } from 'node:events'
import { setPriority } from 'node:os'
import { seededRandom } from '../../../test/support/random.js'
import type { Target } from '../attack.js'
import { ATTACKS } from '../attacks.js'

/** What the process gets. */
export interface AttackPlan {
  name: string
  target: Target
  seed: number
  scale: number
}

/** How often each outcome was met so far. */
export type AttackOutcomes = { [outcome: string]: number }

/* Runs one attack until it is killed; a second message asks for the outcomes so far. It is a process of its own so that
 * it shares nothing with the bystander, and one of the lowest priority: a real attacker has a machine of its own, and
 * on two cores this one would otherwise take the time of the server that it is to keep busy. */

/** An attack whose orchestrator is gone ends by itself. */
const LONGEST_MS = 3_600_000

process.once('message', async ({ name, target, seed, scale }: AttackPlan) => {
  setPriority(19)
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    // A connection that was cut off may still fail once it is let go.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') throw error
  })
  const attack = ATTACKS.find((each) => each.name === name)!
  const outcomes: AttackOutcomes = {}
  const signal = AbortSignal.timeout(LONGEST_MS)
  setMaxListeners(0, signal)
  const count = (outcome: string) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  process.on('message', () => void process.send!(outcomes))
  process.on('disconnect', () => process.exit())
  await attack.run({ target, random: seededRandom(seed), signal, scale, count })
})
