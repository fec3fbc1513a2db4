import type { SeededRandom } from '../../../test/support/random.js'
import type { ChainFacts } from '../facts.js'
import { randomCall } from './calls.js'
import { createChoices, type Request } from './random.js'
import { allReads, randomRead } from './reads.js'
import { randomSimulation } from './simulations.js'
import { stateRanges } from './states.js'
import { blockTraces, randomTrace } from './traces.js'

/** All reads and traces of a chain, `count` random requests, then the states of its blocks. */
export function* requestsAbout(facts: ChainFacts, random: SeededRandom, count: number): Generator<Request> {
  const choices = createChoices(random, facts)
  yield* allReads(facts)
  yield* blockTraces(choices)
  const kinds = [randomRead, randomTrace, randomCall, randomSimulation]
  for (let i = 0; i < count; i++) yield kinds[i % kinds.length](choices)
  yield* stateRanges(choices)
}
