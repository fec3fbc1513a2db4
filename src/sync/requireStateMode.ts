import { familyOf } from '../chain/eth/families/families.js'
import type { ChainSpec } from '../chain/eth/forks/rules.js'
import { UsageError } from '../lib/errors.js'

/** Returns the rules of a chain. @throws UsageError when Cairn does not execute its blocks and `stateMode`, a value of
 *  `--state`, executes them */
export function requireStateMode(spec: ChainSpec, stateMode: 'execute' | 'none' | 'sparse'): ChainSpec {
  const { isExecuted, title } = familyOf(spec)
  if (isExecuted || stateMode === 'none') return spec
  throw new UsageError(
    `--state ${stateMode}: Cairn does not execute blocks of ${title}; --state none stores them with verified receipts`,
  )
}
