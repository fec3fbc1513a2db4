import type { Rules } from '../../chain/eth/forks.js'
import { createTables, type ForkTables } from './forkTables.js'
import { createPrecompiles, type VerifyKzgProof } from './precompiles/curves.js'

/** The tables of forks with all precompiles, each made when it is first asked for and then kept. */
export function createForkTables(verifyKzgProof: VerifyKzgProof): (rules: Rules) => ForkTables {
  return createTables((rules) => createPrecompiles(rules, verifyKzgProof))
}
