import type { LogTexts } from '../../../index/logs/logText.js'
import { BRACKET_BYTES } from '../../../index/logs/textBuffer.js'
import { JsonBytes } from '../../core/method.js'

/** Returns the JSON of a query's logs with ASCII text before and after. The query wrote it in the format of `formatLog`
 *  in index/logs/logJson. Call it once for a query: the brackets of an array are written into the buffer of the logs,
 *  without a copy. */
export function wrapLogs({ text }: LogTexts, before: string, after: string): JsonBytes {
  const size = before.length + text.length + after.length
  if (before.length === BRACKET_BYTES && after.length === BRACKET_BYTES) {
    const whole = Buffer.from(text.buffer, 0, size)
    whole.write(before, 'latin1')
    whole.write(after, size - BRACKET_BYTES, 'latin1')
    return new JsonBytes(whole)
  }
  // A buffer of its own, so that a thread can transfer it.
  const bytes = Buffer.allocUnsafeSlow(size)
  bytes.write(before, 'latin1')
  bytes.set(text, before.length)
  bytes.write(after, size - after.length, 'latin1')
  return new JsonBytes(bytes)
}
