import type { RpcOutcome } from './envelope.js'

/** The bytes of a response; the result, or the `dataJson` of an error, is embedded as is. */
export function encodeResponse(idText: string, outcome: RpcOutcome): Uint8Array[] {
  if ('error' in outcome) {
    const { dataJson, missing: _, ...error } = outcome.error
    const head = `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}`
    if (dataJson === undefined) return [Buffer.from(`${head}}`)]
    return [Buffer.from(`${head.slice(0, -1)},"data":`), dataJson, CLOSE_ERROR]
  }
  return [...encodeBeginning(idText, outcome.result), CLOSE]
}

/** Returns the bytes up to the end of an incomplete result. `CLOSE` follows the rest. */
export function encodeBeginning(idText: string, result: Uint8Array): Uint8Array[] {
  return [Buffer.from(`{"jsonrpc":"2.0","id":${idText},"result":`), result]
}

/** The bytes of a batch response around those of its items. Small parts are joined: writing thousands of buffers to a
 *  socket takes longer than answering the batch. */
export function encodeBatch(responses: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let small: Uint8Array[] = []
  let smallBytes = 0
  const join = () => {
    if (small.length > 0) parts.push(Buffer.concat(small, smallBytes))
    small = []
    smallBytes = 0
  }
  const add = (part: Uint8Array) => {
    if (part.length > MAX_SMALL_BYTES) {
      join()
      return parts.push(part)
    }
    small.push(part)
    smallBytes += part.length
    if (smallBytes >= MIN_JOINED_BYTES) join()
  }
  responses.forEach((response, i) => {
    add(i === 0 ? OPEN_LIST : COMMA)
    for (const part of response) add(part)
  })
  add(CLOSE_LIST)
  join()
  return parts
}

/** Total bytes. */
export function sizeOf(parts: readonly Uint8Array[]): number {
  let size = 0
  for (const part of parts) size += part.length
  return size
}

/** Larger parts are not copied. */
const MAX_SMALL_BYTES = 16_384
/** Target size of joined parts. */
const MIN_JOINED_BYTES = 65_536

/** The end of a response. */
export const CLOSE = Buffer.from('}')
const CLOSE_ERROR = Buffer.from('}}')
const OPEN_LIST = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE_LIST = Buffer.from(']')
