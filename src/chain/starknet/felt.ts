import { bigIntToFixedBytes, bytesToBigInt, trimLeft } from '../../lib/bytes.js'

/** A field element of Starknet: an integer in [0, 2^251 + 17·2^192 + 1). */
export type Felt = bigint

/** The order of the field (Starknet documentation, "The STARK field"). */
export const FELT_PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n

/** Limit of hex digits in files and requests: 32 bytes, with leading zeros. */
const MAX_DIGITS = 64

/** The felt of `0x` and 1 to 64 hex digits, leading zeros allowed; undefined for anything else. */
export function parseFelt(text: string): Felt | undefined {
  return /^0[xX][0-9a-fA-F]+$/.test(text) && text.length <= MAX_DIGITS + 2 ? checked(BigInt(text)) : undefined
}

/** Like `parseFelt`, with or without `0x`: the feeder gateway returned state roots without it until 2023. */
export function parseBareFelt(text: string): Felt | undefined {
  return parseFelt(/^0[xX]/.test(text) ? text : `0x${text}`)
}

/** Like `parseFelt`, or decimal digits: the feeder gateway returned signatures and calldata in decimal until 2022. */
export function parseFeltOrDecimal(text: string): Felt | undefined {
  return /^[0-9]{1,78}$/.test(text) ? checked(BigInt(text)) : parseFelt(text)
}

function checked(value: bigint): Felt | undefined {
  return value < FELT_PRIME ? value : undefined
}

/** Lower-case hex without leading zeros; `0x0` for zero. */
export function formatFelt(felt: Felt): string {
  return `0x${felt.toString(16)}`
}

/** The 32 big-endian bytes of a felt, as stored in the database. */
export function encodeFelt(felt: Felt): Uint8Array {
  return bigIntToFixedBytes(felt, 32)
}

/** The felt of 32 big-endian bytes. */
export function decodeFelt(bytes: Uint8Array): Felt {
  return bytesToBigInt(bytes)
}

/** A short string of Cairo as a felt: its ASCII bytes as a big-endian integer.
 *  @throws RangeError when it is longer than 31 characters or not ASCII. */
export function encodeShortString(text: string): Felt {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > 31 || bytes.length !== text.length) {
    throw new RangeError(`${JSON.stringify(text)} is not a short string`)
  }
  return bytesToBigInt(bytes)
}

/** The text of a short string of Cairo. */
export function decodeShortString(value: Felt): string {
  return new TextDecoder('latin1').decode(trimLeft(encodeFelt(value)))
}
