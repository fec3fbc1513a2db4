import { decodeHeader, hashHeader } from '../../chain/eth/header.js'
import { DecodeError, decodeRlp } from '../../chain/eth/rlp.js'
import type { Header } from '../../chain/eth/types.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import { decodeHeaderJson } from '../ethRpc/blockJson.js'
import { openFileBytes } from './fileBytes.js'

// Blocks with whole transactions as JSON have some megabytes.
const MAX_BYTES = 64 * 1024 * 1024

/** Reads the header of a block from a file: a block object of `eth_getBlockByNumber`, alone or as the result of a
 *  response, or RLP of a header or of a block, as bytes or as hex. The hash is computed.
 *  @throws UsageError that names the file */
export function readHeaderFile(path: string): { hash: Uint8Array; header: Header } {
  const file = openFileBytes(path)
  try {
    if (file.size > MAX_BYTES) throw new UsageError(`it has ${file.size} bytes; expected at most ${MAX_BYTES}`)
    return decodeHeaderFile(file.read(0, file.size))
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error)}`, { cause: error })
  } finally {
    file.close()
  }
}

function decodeHeaderFile(bytes: Uint8Array): { hash: Uint8Array; header: Header } {
  if (bytes.length === 0) throw new UsageError('it is empty; expected the header of a block')
  if (bytes[0] >= 0xc0) return decodeHeaderRlp(bytes)
  const text = new TextDecoder().decode(bytes).trim()
  if (text.startsWith('0x')) return decodeHeaderRlp(decodeHex(text))
  const value = parseJson(text)
  const { result = value } = (value ?? {}) as { result?: unknown }
  if (typeof result === 'string') return decodeHeaderRlp(decodeHex(result))
  return decodeHeaderJson(result)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`expected JSON, or RLP as bytes or hex: ${messageOf(cause)}`, { cause })
  }
}

function decodeHex(text: string): Uint8Array {
  if (/^0x(?:[0-9a-fA-F]{2})+$/.test(text)) return parseHex(text)
  throw new UsageError('expected an even number of hex digits after 0x')
}

/** The first item of a block is its header. */
function decodeHeaderRlp(bytes: Uint8Array): { hash: Uint8Array; header: Header } {
  const item = decodeRlp(bytes, 'header')
  if (item instanceof Uint8Array) throw new DecodeError('header', 'expected a list')
  const [first] = item.items
  const header = decodeHeader(first === undefined || first instanceof Uint8Array ? item : first)
  return { hash: hashHeader(header), header }
}
