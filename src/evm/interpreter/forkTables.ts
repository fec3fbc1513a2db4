import type { Fork, Rules } from '../../chain/eth/forks/rules.js'
import type { Precompile } from './precompiles/precompile.js'
import { createEvmRules, type EvmRules } from './rules.js'

/** Opcode and precompile tables of a fork. */
export interface ForkTables {
  readonly rules: EvmRules
  readonly precompiles: readonly (Precompile | undefined)[]
}

/** Creates tables by fork with these precompiles, built on first use and then kept. */
export function createTables(
  precompilesOf: (rules: Rules) => readonly (Precompile | undefined)[],
): (rules: Rules) => ForkTables {
  const tables = new Map<Fork, ForkTables>()
  return (rules) => {
    let found = tables.get(rules.fork)
    if (found === undefined) {
      found = { rules: createEvmRules(rules), precompiles: precompilesOf(rules) }
      tables.set(rules.fork, found)
    }
    return found
  }
}
