import { STATUS_CODES } from 'node:http'
import { sizeOf } from '../../rpc/core/envelope.js'

/** Up to this size a response's parts are joined, which is one write; above, they are sent one by one without a copy. */
export const JOIN_BYTES = 65_536

/** Up to here it is cheaper to make a text of the parts than a second write. */
const TEXT_BYTES = 4096

/** A body in as few pieces as is cheap, texts of one character for each byte or bytes. */
export function joinParts(parts: readonly Uint8Array[]): readonly (string | Uint8Array)[] {
  const size = sizeOf(parts)
  if (size <= TEXT_BYTES) return [latin1Text(parts)]
  return size <= JOIN_BYTES ? [Buffer.concat(parts, size)] : parts
}

/** The headers that the body of an answer needs, names and values by turns. An answer of status 204 has none. */
export function bodyHeaders(status: number, parts: readonly Uint8Array[]): string[] {
  return status === 204 ? [] : ['Content-Type', 'application/json', 'Content-Length', String(sizeOf(parts))]
}

/** An answer of HTTP/1.1 in pieces; headers are names and values by turns. */
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

/** The parts as a text of one character for each byte. */
function latin1Text(parts: readonly Uint8Array[]): string {
  let text = ''
  for (const part of parts) text += Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
  return text
}
