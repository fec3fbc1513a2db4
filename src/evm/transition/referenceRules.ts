import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { UsageError } from '../../lib/errors.js'

/** Requires a chain that the reference interpreter executes. @throws UsageError for one of a family with rules of its
 *  own */
export function requireReferenceRules(spec: ChainSpec): void {
  const { execution, title } = familyOf(spec)
  if (execution !== undefined) throw new UsageError(`--evm reference does not execute blocks of ${title}; leave it out`)
}
