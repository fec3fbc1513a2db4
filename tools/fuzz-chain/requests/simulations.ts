import { formatQuantity } from '../../../src/lib/hex.js'
import { blockOverrides, callObject, stateOverrides } from './calls.js'
import type { Choices, Request } from './random.js'

/** A random `eth_simulateV1` of up to three blocks of up to three calls. */
export function randomSimulation(choices: Choices): Request {
  const { random, oneIn, sometimes, facts } = choices
  const base = random.below(facts.head + 1)
  let number = base
  let time = facts.timestamps[base]
  const block = () => {
    number += 1
    time += 12
    const { number: _, time: __, ...overrides } = blockOverrides(choices) as { number?: string; time?: string }
    const ahead = sometimes(4, () => {
      number += random.below(3)
      time += 24 + random.below(30)
      return { number: formatQuantity(number), time: formatQuantity(time) }
    })
    const whole = {
      blockOverrides: oneIn(2) ? { ...overrides, ...ahead } : ahead,
      stateOverrides: sometimes(3, () => stateOverrides(choices)),
      calls: Array.from({ length: random.below(4) }, () => callObject(choices)),
    }
    return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined))
  }
  const payload = {
    blockStateCalls: Array.from({ length: 1 + random.below(3) }, block),
    traceTransfers: oneIn(2),
    validation: oneIn(4),
    returnFullTransactions: oneIn(2),
  }
  return { method: 'eth_simulateV1', params: [payload, formatQuantity(base)] }
}
