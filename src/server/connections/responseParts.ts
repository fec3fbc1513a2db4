import { STATUS_CODES } from 'node:http'
import { sizeOf } from '../../rpc/core/responseBytes.js'

/** Up to this size the parts of a response are joined into one write. Larger responses are written part by part without
 *  a copy. */
export const JOIN_BYTES = 65_536

/** Up to this size it is cheaper to build a string than to write twice. */
const TEXT_BYTES = 4096

/** Returns a body in as few chunks as is cheap: latin1 strings or bytes. */
export function joinParts(parts: readonly Uint8Array[]): readonly (string | Uint8Array)[] {
  const size = sizeOf(parts)
  if (size <= TEXT_BYTES) return [latin1Text(parts)]
  return size <= JOIN_BYTES ? [Buffer.concat(parts, size)] : parts
}

/** Headers for the body of a response, alternating names and values. Status 204 has none. */
export function bodyHeaders(status: number, parts: readonly Uint8Array[]): string[] {
  return status === 204 ? [] : ['Content-Type', 'application/json', 'Content-Length', String(sizeOf(parts))]
}

/** An HTTP/1.1 response in chunks; `headers` alternates names and values. */
export function formatPlainAnswer(
  status: number,
  headers: readonly string[],
  parts: readonly Uint8Array[],
): (string | Uint8Array)[] {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  const [first, ...others] = joinParts(parts)
  return typeof first === 'string' ? [`${head}\r\n${first}`, ...others] : [`${head}\r\n`, first, ...others]
}

/** The parts as one latin1 string. */
function latin1Text(parts: readonly Uint8Array[]): string {
  let text = ''
  for (const part of parts) text += Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
  return text
}
