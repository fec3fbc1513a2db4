import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { messageOf } from '../../lib/errors.js'
import { InvalidMessage } from '../errors.js'

/** Max bytes of an inflated message. A block of 99 transactions, 400 accounts and 1,000 slots has 189 KB. */
export const MAX_MESSAGE_BYTES = 64 * 2 ** 20

// One chunk for most blocks: each chunk costs a call into zlib, and the chunks are concatenated.
const CHUNK_BYTES = 2 ** 18

/** Returns a version byte and the raw deflate of a message. */
export function deflatePayload(version: number, body: Uint8Array): Uint8Array {
  const deflated = deflateRawSync(body, { level: constants.Z_BEST_SPEED })
  const payload = new Uint8Array(1 + deflated.length)
  payload[0] = version
  payload.set(deflated, 1)
  return payload
}

/** Inflates the message of a payload that has one of the versions. @throws InvalidMessage */
export function inflatePayload(payload: Uint8Array, versions: readonly number[]): Uint8Array {
  if (!versions.includes(payload[0])) {
    const found = payload[0] ?? 'no bytes'
    const isNewer = payload[0] > Math.max(...versions)
    const advice = isNewer ? ': the writer is newer, upgrade this replica' : ''
    throw new InvalidMessage('version', `expected ${versions.join(' or ')}, got ${found}${advice}`)
  }
  const deflated = payload.subarray(1)
  try {
    const options = { maxOutputLength: MAX_MESSAGE_BYTES, chunkSize: CHUNK_BYTES, info: true }
    const { buffer, engine } = inflateRawSync(deflated, options) as unknown as Inflated
    const left = deflated.length - engine.bytesWritten
    // Views of a plain array take half the time.
    if (left === 0) return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
    throw new InvalidMessage('payload', `expected nothing after the compressed data, got ${left} bytes`)
  } catch (error) {
    if (error instanceof InvalidMessage) throw error
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const problem = isTooLarge ? `expected at most ${MAX_MESSAGE_BYTES} bytes inflated, got more` : messageOf(error)
    throw new InvalidMessage('payload', problem, { cause: error })
  }
}

/** Result of zlib with the option `info`. */
interface Inflated {
  buffer: Buffer
  engine: { bytesWritten: number } // bytes of input that were read
}
