import { decodeBlock, hashOf, transactionsRlp } from '../../chain/eth/block.js'
import type { Family } from '../../chain/eth/families/family.js'
import { decodeHeader } from '../../chain/eth/header.js'
import { DecodeError, measureRlp, type RlpSpan } from '../../chain/eth/rlp.js'
import { messageOf } from '../../lib/errors.js'
import { yieldToEventLoop } from '../../lib/pause.js'
import { recoverAhead, SendersAhead } from '../senders/sendersAhead.js'
import { type BlockSource, type RawBlock, SourceError, type SourceRange } from '../source.js'
import { streamFile } from './fileBytes.js'

/** `--kind` of files of RLP blocks. */
export const CHAIN_RLP = 'chain-rlp'

// No network's blocks come near this size; a larger length is corruption and must not be buffered.
const MAX_BLOCK_BYTES = 256 * 1024 * 1024
const MAX_PREFIX_BYTES = 9

/** True for bytes that start like an RLP block: a list whose first item, the header, is a list of at least 15
 *  strings. */
export function recogniseChainRlp(head: Uint8Array): boolean {
  try {
    const block = measureRlp(head, 0)
    const header = block?.isList ? measureRlp(head, block.payload) : undefined
    if (!header?.isList) return false
    let items = 0
    for (let at = header.payload; at < header.end && items < 15; items++) {
      const item = measureRlp(head, at)
      if (!item || item.isList) return false
      at = item.end
    }
    return items === 15
  } catch {
    return false
  }
}

/** Opens a file of concatenated RLP blocks (`.rlp`, `.blocks`), gzip or not. It is streamed: about 1 MB and the current
 *  block are in memory; with sender recovery about another MB of blocks. Blocks below `from` are skipped after decoding
 *  their headers. */
export function openChainRlp(path: string): BlockSource {
  const position = { read: 0, taken: 0, unpacked: 0 }
  return {
    kind: CHAIN_RLP,
    path,
    // Bytes read from the file, scaled by the consumed share of their content.
    bytesRead: () => (position.read * position.taken) / Math.max(position.unpacked, 1),
    blocks: (range = {}) => readBlocks(path, position, range),
  }
}

/** Progress in a file. */
interface Position {
  /** Bytes read from the file. */
  read: number
  /** Bytes of decompressed content: of the blocks up to the current one, and in all. */
  taken: number
  unpacked: number
}

async function* readBlocks(
  path: string,
  position: Position,
  { from = 0, passedOver, senderRecovery, family }: SourceRange,
): AsyncGenerator<RawBlock> {
  let ordinal = 0
  position.read = 0
  const items = splitItems(path, position)
  let isSkipping = from > 0
  const reader = {
    sizeOf: ({ bytes }: Item) => bytes.length,
    transactionsOf: ({ bytes }: Item) => {
      isSkipping &&= isBelow(bytes, from)
      return isSkipping ? undefined : transactionsRlp(bytes)
    },
  }
  for await (const { item, senders } of recoverAhead(items, reader, new SendersAhead(senderRecovery))) {
    const { bytes, offset } = item
    position.taken = offset + bytes.length
    try {
      const header = from === 0 ? undefined : readHeader(bytes, family)
      if (header && header.number < from) passedOver?.(header.number, header.hash())
      else yield { block: decodeBlock(bytes, senders, family) }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      throw new SourceError({ path, offset, ordinal, problem: error.message, cause: error })
    }
    ordinal++
  }
  if (ordinal === 0) throw new SourceError({ path, offset: 0, problem: 'expected a block, got an empty file' })
}

function readHeader(blockRlp: Uint8Array, family: Family | undefined): { number: number; hash(): Uint8Array } {
  const start = measureRlp(blockRlp, 0)!.payload
  const span = measureRlp(blockRlp, start)
  if (!span?.isList) throw new DecodeError('block', 'expected a list that begins with a header')
  const headerRlp = blockRlp.subarray(start, span.end)
  const header = decodeHeader(headerRlp)
  return { number: header.number, hash: () => hashOf(header, headerRlp, family) }
}

/** True for the RLP of a block whose number is below `from`. */
function isBelow(blockRlp: Uint8Array, from: number): boolean {
  try {
    return readHeader(blockRlp, undefined).number < from
  } catch (error) {
    if (error instanceof DecodeError) return false
    throw error
  }
}

interface Item {
  bytes: Uint8Array
  offset: number
}

/** Yields every RLP list of the file, with its offset in the decompressed content. */
async function* splitItems(path: string, position: Position): AsyncGenerator<Item> {
  const queue = createByteQueue()
  let ordinal = 0
  const onRead = (count: number) => {
    position.read += count
  }
  try {
    for await (const chunk of streamFile(path, onRead)) {
      queue.push(chunk)
      await yieldToEventLoop() // delivers signals while blocks are skipped
      for (let item = takeItem(queue); item; item = takeItem(queue)) {
        position.unpacked = queue.offset + queue.length
        yield item
        ordinal++
      }
    }
  } catch (error) {
    if (error instanceof SourceError || !isReadError(error)) throw error
    throw new SourceError({ path, offset: queue.offset, ordinal, problem: messageOf(error), cause: error })
  }
  if (queue.length > 0) {
    const needed = measureRlp(queue.peek(MAX_PREFIX_BYTES), 0)?.end
    const problem = `expected ${needed === undefined ? 'more' : `a block of ${needed} bytes`}, the file ends after ${queue.length} of it`
    throw new SourceError({ path, offset: queue.offset, ordinal, problem })
  }
}

/** True for errors of the input (decoding, reading, decompressing); anything else is a bug. */
function isReadError(error: unknown): boolean {
  return error instanceof DecodeError || (error instanceof Error && 'code' in error && 'errno' in error)
}

/** Removes the list at the front of the queue; undefined when it is incomplete. */
function takeItem(queue: ByteQueue): Item | undefined {
  if (queue.length === 0) return undefined
  const { offset } = queue
  const span = measureBlock(queue.peek(MAX_PREFIX_BYTES))
  return span && span.end <= queue.length ? { bytes: queue.take(span.end), offset } : undefined
}

function measureBlock(prefix: Uint8Array): RlpSpan | undefined {
  const span = prefix[0] >= 0xc0 ? measureRlp(prefix, 0) : undefined
  if (prefix[0] < 0xc0)
    throw new DecodeError('block', `expected an RLP list, got byte 0x${prefix[0].toString(16).padStart(2, '0')}`)
  if (span && span.end > MAX_BLOCK_BYTES)
    throw new DecodeError('block', `expected at most ${MAX_BLOCK_BYTES} bytes, got ${span.end}`)
  return span
}

/** A queue of bytes: chunks are pushed at the back, bytes are removed from the front. */
interface ByteQueue {
  readonly length: number
  /** Number of bytes removed so far. */
  readonly offset: number
  push(chunk: Uint8Array): void
  /** Returns the first `count` bytes, or fewer when the queue is shorter. */
  peek(count: number): Uint8Array
  /** Removes the first `count` bytes and returns a copy, so that a block does not keep its chunk alive. */
  take(count: number): Uint8Array
}

function createByteQueue(): ByteQueue {
  const chunks: Uint8Array[] = []
  let length = 0
  let offset = 0
  let start = 0 // offset in the first chunk
  const copyTo = (out: Uint8Array) => {
    let at = 0
    for (let i = 0, from = start; at < out.length; i++, from = 0) {
      const part = chunks[i].subarray(from, Math.min(chunks[i].length, from + out.length - at))
      out.set(part, at)
      at += part.length
    }
    return out
  }
  return {
    get length() {
      return length
    },
    get offset() {
      return offset
    },
    push: (chunk) => {
      chunks.push(chunk)
      length += chunk.length
    },
    peek: (count) => {
      const first = chunks[0]
      if (first.length - start >= count) return first.subarray(start, start + count)
      return copyTo(new Uint8Array(Math.min(count, length)))
    },
    take: (count) => {
      const out = copyTo(new Uint8Array(count))
      start += count
      length -= count
      offset += count
      while (chunks.length > 0 && start >= chunks[0].length) start -= chunks.shift()!.length
      return out
    },
  }
}
