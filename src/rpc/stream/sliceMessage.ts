import type { RecentBlock, StreamSlice } from '../../export/stream/streamQuery.js'
import { formatData, parseHex } from '../../lib/hex.js'

/* A slice of a stream as one value, from a reader thread to the server: the length of the facts in 4 bytes,
   little-endian, the facts as JSON, the rows. */

/** A slice with its rows in one piece. */
export type ReceivedSlice = Omit<StreamSlice, 'parts'> & { readonly bytes: Uint8Array }

const LENGTH_BYTES = 4

/** Returns the slice as one value. */
export function encodeSlice({ parts, ...slice }: StreamSlice): Uint8Array {
  const { head, before, recent } = slice
  const facts: SliceFacts = {
    ...slice,
    head: head && { ...head, ...formatRef(head) },
    before: before && formatRef(before),
    recent: recent.map(formatRef),
  }
  const json = Buffer.from(JSON.stringify(facts))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(json.length)
  return Buffer.concat([length, json, ...parts])
}

/** Decodes what `encodeSlice` returned. The rows are a view of it. */
export function decodeSlice(bytes: Uint8Array): ReceivedSlice {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = LENGTH_BYTES + buffer.readUInt32LE(0)
  const facts = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, start)) as SliceFacts
  const { head, before, recent } = facts
  return {
    ...facts,
    head: head && { ...head, ...decodeRef(head) },
    before: before && decodeRef(before),
    recent: recent.map(decodeRef),
    bytes: buffer.subarray(start),
  }
}

interface FormattedRef {
  readonly number: number
  readonly hash: string
}

type SliceFacts = Omit<StreamSlice, 'parts' | 'head' | 'before' | 'recent'> & {
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
