import type { LogTexts } from '../../../logs/logText.js'
import { JsonBytes } from '../../core/method.js'

/** The JSON of the logs of a query, with ASCII text before and behind: written by the query in the form of `formatLog` in
 *  logs/logObject, here only joined, in one buffer. */
export function wrapLogs({ parts }: LogTexts, before: string, after: string): JsonBytes {
  const size = parts.reduce((sum, part) => sum + part.length + 1, before.length + after.length)
  const bytes = Buffer.allocUnsafe(size)
  let end = bytes.write(before, 'latin1')
  for (const [i, part] of parts.entries()) {
    if (i > 0) end += bytes.write(',', end, 'latin1')
    end += part.copy(bytes, end)
  }
  end += bytes.write(after, end, 'latin1')
  return new JsonBytes(bytes.subarray(0, end))
}
