import type { LogTexts } from '../../../index/logs/logText.js'
import { JsonBytes } from '../../core/method.js'

/** Returns the JSON of a query's logs with ASCII text before and after. The query wrote it in the format of `formatLog`
 *  in index/logs/logJson; this joins it into one buffer. */
export function wrapLogs({ parts }: LogTexts, before: string, after: string): JsonBytes {
  // Exact size, so that a thread can transfer the buffer unchanged.
  const commas = Math.max(0, parts.length - 1)
  const size = parts.reduce((sum, part) => sum + part.length, before.length + commas + after.length)
  const bytes = Buffer.allocUnsafeSlow(size)
  let end = bytes.write(before, 'latin1')
  for (const [i, part] of parts.entries()) {
    if (i > 0) end += bytes.write(',', end, 'latin1')
    bytes.set(part, end)
    end += part.length
  }
  bytes.write(after, end, 'latin1')
  return new JsonBytes(bytes)
}
