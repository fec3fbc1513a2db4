import { createHash } from 'node:crypto'
import { UsageError } from '../lib/errors.js'
import { MAX_SECRET_FILE_BYTES, readOptionText } from '../lib/optionFile.js'

const MIN_BYTES = 32

/** Returns the 32-byte secret of log cursors: SHA-256 of the content of `--cursor-secret-file`, trimmed of white space.
 *  @throws UsageError, without the content, for a file that cannot be read, or is shorter than 32 or longer than 4,096
 *    bytes */
export function readCursorSecretFile(path: string): Uint8Array {
  const secret = readOptionText('--cursor-secret-file', path, MAX_SECRET_FILE_BYTES, 'latin1').trim()
  if (secret.length < MIN_BYTES) {
    const advice = "make one with 'openssl rand -hex 32'"
    throw new UsageError(
      `--cursor-secret-file ${path}: expected at least ${MIN_BYTES} bytes, got ${secret.length}; ${advice}`,
    )
  }
  return createHash('sha256').update(secret, 'latin1').digest()
}
