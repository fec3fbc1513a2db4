import type { Rules } from '../../chain/eth/forks/rules.js'
import { createTables, type ForkTables } from './forkTables.js'
import { createPrecompiles, type VerifyKzgProof } from './precompiles/curves.js'

/** Fork tables with all precompiles, built on first use and then kept. */
export function createForkTables(verifyKzgProof: VerifyKzgProof): (rules: Rules) => ForkTables {
  return createTables((rules) => createPrecompiles(rules, verifyKzgProof))
}
