import type { RecentBlock, StreamSlice } from '../../export/stream/streamQuery.js'
import { copyParts, totalBytes } from '../../lib/bytes.js'
import { formatData, parseHex } from '../../lib/hex.js'

/* A slice of a stream as one value, from a reader thread to the server: the length of the facts in 4 bytes,
   little-endian, the facts as JSON, and the rows, unless they are in memory that both share. */

/** A slice with its rows in one piece. */
export type ReceivedSlice = Omit<StreamSlice, 'parts'> & { readonly bytes: Uint8Array }

const LENGTH_BYTES = 4

/** Returns the slice as one value. Its rows are written to `memory` instead, if they fit. */
export function encodeSlice({ parts, ...slice }: StreamSlice, memory?: SharedArrayBuffer): Uint8Array {
  const { head, before, recent } = slice
  const sharedBytes = memory && writeRows(parts, memory)
  const facts: SliceFacts = {
    sharedBytes,
    ...slice,
    head: head && { ...head, ...formatRef(head) },
    before: before && formatRef(before),
    recent: recent.map(formatRef),
  }
  const json = Buffer.from(JSON.stringify(facts))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(json.length)
  return Buffer.concat([length, json, ...(sharedBytes === undefined ? parts : [])])
}

/** Returns the number of bytes; undefined if they do not fit. */
function writeRows(parts: readonly Uint8Array[], memory: SharedArrayBuffer): number | undefined {
  const sizeBytes = totalBytes(parts)
  if (sizeBytes > memory.byteLength) return undefined
  copyParts(parts, new Uint8Array(memory))
  return sizeBytes
}

/** Decodes what `encodeSlice` returned, with the same `memory`. The rows are a view of one of both. */
export function decodeSlice(bytes: Uint8Array, memory?: SharedArrayBuffer): ReceivedSlice {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = LENGTH_BYTES + buffer.readUInt32LE(0)
  const { sharedBytes, ...facts } = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, start)) as SliceFacts
  const { head, before, recent } = facts
  return {
    ...facts,
    head: head && { ...head, ...decodeRef(head) },
    before: before && decodeRef(before),
    recent: recent.map(decodeRef),
    bytes: sharedBytes === undefined ? buffer.subarray(start) : new Uint8Array(memory!, 0, sharedBytes),
  }
}

interface FormattedRef {
  readonly number: number
  readonly hash: string
}

type SliceFacts = Omit<StreamSlice, 'parts' | 'head' | 'before' | 'recent'> & {
  /** Bytes of the rows in shared memory, if they are there. */
  readonly sharedBytes?: number
  readonly head?: FormattedRef & { readonly finalized?: number }
  readonly before?: FormattedRef
  readonly recent: readonly FormattedRef[]
}

/** Returns the block as in responses. */
export function formatRef({ number, hash }: RecentBlock): FormattedRef {
  return { number, hash: formatData(hash) }
}

function decodeRef({ number, hash }: FormattedRef): RecentBlock {
  return { number, hash: parseHex(hash) }
}
