import { createHash } from 'node:crypto'
import { concatBytes } from '../../lib/bytes.js'
import { writeInteger } from '../../lib/varint.js'

/** A larger file is a tree of several IPFS blocks, whose shape depends on the writer. */
const MAX_IPFS_BLOCK_BYTES = 262_144

/** Compilers append less than 100 bytes. */
const MAX_CBOR_BYTES = 1024

/** SHA2-256, 32 bytes: the prefix of the multihash. */
const SHA2_256 = Uint8Array.of(0x12, 0x20)

/** Returns the multihash of a file in IPFS (CIDv0, without Base58), as solc computes it: 34 bytes. Undefined for a file
 *  of more than 256 KiB. Source: the UnixFS and DAG-PB specifications of IPFS. */
export function ipfsHash(file: Uint8Array): Uint8Array | undefined {
  if (file.length > MAX_IPFS_BLOCK_BYTES) return undefined
  const length = encodeVarint(file.length)
  // UnixFS: field 1, type: file; field 2, data, absent if empty; field 3, its size.
  const data = file.length === 0 ? [] : [Uint8Array.of(0x12), length, file]
  const unixFs = concatBytes(Uint8Array.of(0x08, 0x02), ...data, Uint8Array.of(0x18), length)
  const node = concatBytes(Uint8Array.of(0x0a), encodeVarint(unixFs.length), unixFs)
  return concatBytes(SHA2_256, createHash('sha256').update(node).digest())
}

function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = []
  writeInteger(bytes, value)
  return Uint8Array.from(bytes)
}

/** Returns the IPFS multihash, 34 bytes, that the compiler appended to runtime code: the member `ipfs` of a CBOR map
 *  whose length is in the last 2 bytes. Undefined if the code names none. Source: Contract Metadata in the Solidity
 *  documentation. */
export function metadataHashOfCode(code: Uint8Array): Uint8Array | undefined {
  if (code.length < 2) return undefined
  const length = (code[code.length - 2] << 8) | code[code.length - 1]
  const start = code.length - 2 - length
  if (length > MAX_CBOR_BYTES || start < 0) return undefined
  const reader: CborReader = { bytes: code.subarray(start, code.length - 2), at: 0 }
  const map = readHead(reader)
  if (map?.major !== 5) return undefined
  for (let i = 0; i < map.value; i++) {
    const key = readString(reader)
    const value = readHead(reader)
    if (key === undefined || value === undefined) return undefined
    if (value.major === 2 || value.major === 3) {
      const bytes = takeBytes(reader, value.value)
      if (bytes === undefined) return undefined
      const isHash =
        key === 'ipfs' && value.major === 2 && bytes.length === 34 && bytes[0] === 0x12 && bytes[1] === 0x20
      if (isHash) return bytes
    } else if (value.major !== 0 && value.major !== 7) return undefined // lists and maps: no compiler that writes ipfs
  }
  return undefined
}

interface CborReader {
  readonly bytes: Uint8Array
  at: number
}

/** Reads the head of an item: major type and value, at most 65,535. Undefined at the end and for other lengths. */
function readHead(reader: CborReader): { readonly major: number; readonly value: number } | undefined {
  const { bytes } = reader
  if (reader.at >= bytes.length) return undefined
  const first = bytes[reader.at++]
  const [major, short] = [first >> 5, first & 0x1f]
  if (short < 24) return { major, value: short }
  const size = short - 23
  if (size > 2 || reader.at + size > bytes.length) return undefined
  const value = size === 1 ? bytes[reader.at] : (bytes[reader.at] << 8) | bytes[reader.at + 1]
  reader.at += size
  return { major, value }
}

function readString(reader: CborReader): string | undefined {
  const head = readHead(reader)
  if (head?.major !== 3) return undefined
  const bytes = takeBytes(reader, head.value)
  return bytes && Buffer.from(bytes).toString('latin1')
}

function takeBytes(reader: CborReader, length: number): Uint8Array | undefined {
  const end = reader.at + length
  if (end > reader.bytes.length) return undefined
  const bytes = reader.bytes.subarray(reader.at, end)
  reader.at = end
  return bytes
}
