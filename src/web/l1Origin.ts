import type { Transaction } from './client/types.js'

/** Selectors of the calls of L1Block, with the position of the block number in their inputs: bytes from the end of it,
 *  and its length (specs/protocol: deposits.md, ecotone/l1-attributes.md). */
const PACKED = { end: 36, bytes: 8 }
const CALLS: { readonly [selector: string]: { readonly end: number; readonly bytes: number } } = {
  '0x015d8eb9': { end: 36, bytes: 32 }, // setL1BlockValues
  '0x440a5e20': PACKED, // setL1BlockValuesEcotone
  '0x098999be': PACKED, // setL1BlockValuesIsthmus
  '0x3db6be2b': PACKED, // setL1BlockValuesJovian
}

/** Returns the number of the layer-1 block that a block of the OP stack follows from, which its first deposit sets;
 *  undefined for blocks of other chains. */
export function l1OriginOf([first]: readonly Pick<Transaction, 'sourceHash' | 'input'>[]): number | undefined {
  if (first?.sourceHash === undefined) return undefined
  const place = CALLS[first.input.slice(0, 10)]
  if (place === undefined) return undefined
  const digits = first.input.slice(2 + 2 * (place.end - place.bytes), 2 + 2 * place.end)
  return digits.length === 2 * place.bytes ? Number(`0x${digits}`) : undefined
}
