import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf, UsageError } from './errors.js'

/** Limit of a file with one secret, with white space around it. */
export const MAX_SECRET_FILE_BYTES = 4096

/** Returns the text of a small file that an option names. An endless one, such as a device, is not read further than
 *  `maxBytes`. @throws UsageError, without the content, for a file that cannot be read or has more than `maxBytes` */
export function readOptionText(
  option: string,
  path: string,
  maxBytes: number,
  encoding: BufferEncoding = 'utf8',
): string {
  const bytes = Buffer.allocUnsafe(maxBytes + 1)
  let length = 0
  try {
    const file = openSync(path, 'r')
    try {
      // A pipe returns its content in parts.
      for (let read = -1; read !== 0 && length < bytes.length; length += read) {
        read = readSync(file, bytes, length, bytes.length - length, null)
      }
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new UsageError(`${option} ${path}: ${messageOf(error)}`)
  }
  if (length > maxBytes) throw new UsageError(`${option} ${path}: expected at most ${maxBytes} bytes, got more`)
  return bytes.toString(encoding, 0, length)
}
