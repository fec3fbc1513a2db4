/* Entry types of the e2store formats that have execution history (eth-clients/e2store-format-specs). */

export const VERSION = 0x3265
export const COMPRESSED_HEADER = 0x03
export const COMPRESSED_BODY = 0x04
export const COMPRESSED_RECEIPTS = 0x05
export const TOTAL_DIFFICULTY = 0x06
export const ACCUMULATOR = 0x07
export const COMPRESSED_SLIM_RECEIPTS = 0x0a
export const PROOF = 0x0b
/** Index of era1. */
export const BLOCK_INDEX = 0x3266
/** Index of ere. */
export const DYNAMIC_BLOCK_INDEX = 0x3267

/** Blocks of one era1 or ere file at most: the limit of the accumulator's list. */
export const MAX_FILE_BLOCKS = 8192

/** Bytes before the value of an entry: type u16, length u32, reserved u16, little-endian. */
export const ENTRY_HEADER_BYTES = 8

/** Returns the header of an entry, 8 bytes. */
export function encodeEntryHeader(type: number, length: number): Uint8Array {
  const bytes = new Uint8Array(ENTRY_HEADER_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, type, true)
  view.setUint32(2, length, true)
  return bytes
}
