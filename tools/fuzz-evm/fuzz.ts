import type { Fork, Rules } from '../../src/chain/eth/forks/rules.js'
import { createForkTables } from '../../src/evm/interpreter/allPrecompiles.js'
import type { ForkTables } from '../../src/evm/interpreter/forkTables.js'
import { loadKzgVerifier } from '../../src/evm/interpreter/precompiles/kzg.js'
import { FUZZED_FORKS, generateWorld } from './generate.js'
import { createReference } from './reference.js'
import { runOurs } from './subject.js'
import { type Counts, difference, type Run, type World } from './world.js'

/** A world on which the two interpreters do not agree. */
export interface Finding {
  seed: number
  fork: Fork
  difference: string
}

/** Compares the two interpreters on worlds of seeds. */
export interface Fuzzer {
  /** What differs in the world of a seed; undefined when nothing does. */
  compare(seed: number, fork: Fork): Promise<Finding | undefined>
  /** All that was compared so far. */
  counts(): Counts
}

/** A fuzzer; @ethereumjs/evm is what is right. */
export async function createFuzzer(): Promise<Fuzzer> {
  const tables = createForkTables(await loadKzgVerifier())
  const runTheirs = createReference()
  const counts = { worlds: 0, transactions: 0, programs: 0 }
  return {
    compare: async (seed, fork) => {
      const world = generateWorld(seed, fork)
      const theirs = await runTheirs(world)
      const found = differenceOf(world, theirs, tables, counts)
      return found === undefined ? undefined : { seed, fork, difference: found }
    },
    counts: () => ({ ...counts }),
  }
}

function differenceOf(
  world: World,
  theirs: Run,
  tables: (rules: Rules) => ForkTables,
  counts: Counts,
): string | undefined {
  counts.worlds++
  counts.transactions += world.transactions.length
  try {
    const ours = runOurs(world, tables)
    counts.programs += ours.programs
    return difference(ours, theirs)
  } catch (error) {
    return `ours threw ${error instanceof Error ? error.stack : error}`
  }
}

/** The fork of a seed when it is not given: all forks by turns. */
export function forkOfSeed(seed: number): Fork {
  return FUZZED_FORKS[seed % FUZZED_FORKS.length]
}
