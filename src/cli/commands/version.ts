import { UsageError } from '../../lib/errors.js'
import { packageVersion } from '../../rpc/core/openContext.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'

/** `cairn version`: prints the version of the package. */
export async function runVersion({ operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help version'`)
  await printResult(packageVersion())
  return 0
}
