import { UsageError } from '../../lib/errors.js'
import { didYouMean } from '../../lib/suggestion.js'
import { formatCompletion, SHELLS } from '../completion.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'

/** `cairn completion`: prints the completion script of a shell. */
export async function runCompletion({ operands }: ParsedArgs): Promise<number> {
  const [name = '', surplus] = operands
  if (surplus !== undefined) throw new UsageError(`unexpected operand '${surplus}'; see 'cairn help completion'`)
  const shell = SHELLS.find((each) => each === name)
  if (shell === undefined) {
    throw new UsageError(
      `completion: expected ${SHELLS.join(', ')}, got ${JSON.stringify(name)}${didYouMean(name, SHELLS)}`,
    )
  }
  await printResult(formatCompletion(shell))
  return 0
}
