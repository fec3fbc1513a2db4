import type { Rules } from '../../chain/eth/forks/rules.js'
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
  const tables = new Map<string, ForkTables>()
  return (rules) => {
    const { fork, familyFork } = rules
    const key = familyFork === undefined ? fork : `${fork} ${familyFork}`
    let found = tables.get(key)
    if (found === undefined) {
      found = { rules: createEvmRules(rules), precompiles: precompilesOf(rules) }
      tables.set(key, found)
    }
    return found
  }
}
