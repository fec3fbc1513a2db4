import { UsageError } from '../../lib/errors.js'
import { packageVersion } from '../../rpc/core/openContext.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn version`: the version of the package. */
export async function runVersion({ operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help version'`)
  process.stdout.write(`${packageVersion()}\n`)
  return 0
}
