/* Recognises text typed into the search. Pure functions, without the browser. */

/** What a text may refer to. */
type Wanted =
  | { kind: 'block'; block: string }
  | { kind: 'address'; address: string }
  /** A hash of a transaction or a block, on layer 1 or 2. */
  | { kind: 'hash'; hash: string }
  /** Prefix of a hash or address, with its 0x; `block` is set if it is also a block number in hex. */
  | { kind: 'prefix'; prefix: string; block?: string }
  | { kind: 'nothing' }

const TAGS = ['latest', 'earliest', 'safe', 'finalized', 'pending']

/** Shorter prefixes would match too much. */
const MIN_PREFIX_DIGITS = 4

/** Recognises a block number in decimal or hex, a block tag, an address, a hash, or a prefix of one. */
export function recognise(text: string): Wanted {
  const trimmed = text.trim()
  const plain = trimmed.replace(/[,_\s]/g, '')
  if (/^\d{1,15}$/.test(plain)) return { kind: 'block', block: plain }
  if (TAGS.includes(plain.toLowerCase())) return { kind: 'block', block: plain.toLowerCase() }
  const hex = /^(?:0x)?([\da-f]+)$/i.exec(plain)?.[1].toLowerCase()
  if (hex === undefined) return { kind: 'nothing' }
  if (hex.length === 40) return { kind: 'address', address: `0x${hex}` }
  // Hashes of layer 2 are felts, which may be written without leading zeros.
  if (hex.length <= 64 && hex.length > 40) return { kind: 'hash', hash: `0x${hex}` }
  const isNumber = /^0x/i.test(plain) && hex.length <= 12
  const block = isNumber ? String(Number(`0x${hex}`)) : undefined
  if (hex.length >= MIN_PREFIX_DIGITS && hex.length < 64) return { kind: 'prefix', prefix: `0x${hex}`, block }
  return block === undefined ? { kind: 'nothing' } : { kind: 'block', block }
}
