import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { messageOf, UsageError } from '../lib/errors.js'

const MIN_BYTES = 32
const MAX_BYTES = 4096

/** Returns the 32-byte secret of log cursors: SHA-256 of the content of `--cursor-secret-file`, trimmed of white space.
 *  @throws UsageError, without the content, for a file that cannot be read, or is shorter than 32 or longer than 4,096
 *    bytes */
export function readCursorSecretFile(path: string): Uint8Array {
  const content = readBeginning(path)
  if (content.length > MAX_BYTES) {
    throw new UsageError(`--cursor-secret-file ${path}: expected at most ${MAX_BYTES} bytes, got more`)
  }
  const secret = content.toString('latin1').trim()
  if (secret.length < MIN_BYTES) {
    const advice = "make one with 'openssl rand -hex 32'"
    throw new UsageError(
      `--cursor-secret-file ${path}: expected at least ${MIN_BYTES} bytes, got ${secret.length}; ${advice}`,
    )
  }
  return createHash('sha256').update(secret, 'latin1').digest()
}

/** Reads at most one byte more than the file may have. */
function readBeginning(path: string): Buffer {
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  try {
    const file = openSync(path, 'r')
    try {
      return bytes.subarray(0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new UsageError(`--cursor-secret-file ${path}: ${messageOf(error)}`)
  }
}
