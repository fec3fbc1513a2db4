import { bytesToBigInt, EMPTY_BYTES, padLeft } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import { abbreviate, parseHex } from '../../lib/hex.js'

/** A genesis file cannot be used. */
export class InvalidGenesis extends CairnError {}

/** A JSON object of a genesis file. */
export type GenesisJson = { [key: string]: unknown }

/** Returns a value that is an object. `path` is its place in the file. @throws InvalidGenesis */
export function requireObject(value: unknown, path: string): GenesisJson {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidGenesis(`${path}: expected an object, got ${show(value)}`)
  }
  return value as GenesisJson
}

/** An integer of at most `bits`: a JSON number, decimal text, or hex text with 0x. @throws InvalidGenesis */
export function readUint(value: unknown, path: string, bits: number): bigint {
  return atMost(2n ** BigInt(bits) - 1n, readInteger(value, path), path, `2^${bits} - 1`)
}

// 2^256 has 78 decimal digits; leading zeros are accepted up to this.
const MAX_INTEGER_DIGITS = 100

function readInteger(value: unknown, path: string): bigint {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'bigint' && value >= 0n) return value
  if (value === '0x' || value === '') return 0n
  if (typeof value === 'string' && /^(0x[0-9a-fA-F]+|[0-9]+)$/.test(value)) {
    if (value.length <= MAX_INTEGER_DIGITS) return BigInt(value)
    throw new InvalidGenesis(`${path}: expected an integer of at most 256 bits, got ${show(value)}`)
  }
  throw new InvalidGenesis(`${path}: expected a non-negative integer, got ${show(value)}`)
}

/** Returns `value`. `name` describes the limit in the message. @throws InvalidGenesis when it is greater */
export function atMost(limit: bigint, value: bigint, path: string, name: string): bigint {
  if (value > limit) throw new InvalidGenesis(`${path}: expected at most ${name}, got ${abbreviate(value.toString())}`)
  return value
}

/** Bytes from hex text with 0x. @throws InvalidGenesis */
export function readHex(value: unknown, path: string): Uint8Array {
  if (typeof value !== 'string') throw new InvalidGenesis(`${path}: expected hex text, got ${show(value)}`)
  try {
    return parseHex(value)
  } catch (cause) {
    throw new InvalidGenesis(`${path}: expected hex text, got ${show(value)}`, { cause })
  }
}

/** Exactly `length` bytes from hex text, with or without 0x. @throws InvalidGenesis */
export function readBytes(value: unknown, length: number, path: string): Uint8Array {
  const bytes = readHex(withPrefix(value), path)
  if (bytes.length !== length) {
    throw new InvalidGenesis(`${path}: expected ${length} bytes, got ${bytes.length}: ${show(value)}`)
  }
  return bytes
}

/** The nonce of a header, 8 bytes, from an integer. @throws InvalidGenesis */
export function readNonce(value: unknown): Uint8Array {
  return padLeft(integerBytes(readUint(typeof value === 'string' ? withPrefix(value) : value, 'nonce', 64)), 8)
}

/** 32 bytes from an integer. @throws InvalidGenesis */
export function readWord(value: unknown, path: string): Uint8Array {
  return padLeft(integerBytes(readUint(typeof value === 'string' ? withPrefix(value) : value, path, 256)), 32)
}

function integerBytes(value: bigint): Uint8Array {
  const digits = value.toString(16)
  return parseHex(digits.length % 2 ? `0${digits}` : digits)
}

/** Returns a word without leading zeros; no bytes for zero. */
export function trimWord(word: Uint8Array): Uint8Array {
  return bytesToBigInt(word) === 0n ? EMPTY_BYTES : word.subarray(word.findIndex((byte) => byte !== 0))
}

/** Adds 0x to text without it. */
export function withPrefix(value: unknown): string {
  return typeof value === 'string' && !value.startsWith('0x') ? `0x${value}` : (value as string)
}

/** The value in messages, abbreviated. */
export function show(value: unknown): string {
  return abbreviate(JSON.stringify(value) ?? 'nothing')
}
