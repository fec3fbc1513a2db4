import { randomUUID } from 'node:crypto'
import { formatData } from '../lib/hex.js'
import type { RemovedBlock } from '../store/rows/removedBlocks.js'
import type { SinkPlace } from './cursor.js'
import type { SinkBlock } from './eventReader.js'

/** A message to the receiver. */
export interface SinkMessage {
  /** Unique; the same in each attempt to deliver it. */
  readonly id: string
  /** JSON. */
  readonly body: Buffer
  readonly events: number
  /** The last block that it is about. */
  readonly place: SinkPlace
  /** False if events of that block follow in the next message. */
  readonly isComplete: boolean
}

/** Limits of a message. */
export interface MessageLimits {
  readonly maxEvents: number
  /** Bytes of the events and blocks of a message; one event may have more. */
  readonly maxBytes: number
}

/** Limits of messages of webhooks. */
export const WEBHOOK_LIMITS: MessageLimits = { maxEvents: 1_000, maxBytes: 512 * 1024 }

/** Yields the messages of added blocks. A block with many events is in several messages; the last one has `isComplete`.
 *  With `omitsEmpty`, blocks without events are left out. */
export function* addedMessages(
  chainId: number | bigint,
  blocks: readonly SinkBlock[],
  { limits, omitsEmpty }: { limits: MessageLimits; omitsEmpty: boolean },
): Generator<SinkMessage> {
  let parts: string[] = []
  let [events, bytes] = [0, 0]
  let last: { readonly place: SinkPlace; readonly isComplete: boolean } | undefined
  const end = (): SinkMessage => {
    const message = { id: randomUUID(), body: bodyOf(chainId, 'added', parts), events, ...last! }
    parts = []
    events = 0
    bytes = 0
    return message
  }
  for (const { link, events: own } of blocks) {
    if (own.length === 0 && omitsEmpty) continue
    let at = 0
    do {
      if (parts.length > 0 && (events >= limits.maxEvents || bytes >= limits.maxBytes)) yield end()
      const to = endOfPart(own, at, { maxEvents: limits.maxEvents - events, maxBytes: limits.maxBytes - bytes })
      if (to === at && at < own.length && parts.length > 0) {
        yield end()
        continue
      }
      const part = own.slice(at, Math.max(to, Math.min(at + 1, own.length))) // one event at least
      at += part.length
      parts.push(formatBlock(link, part, at === own.length))
      events += part.length
      bytes += part.reduce((sum, event) => sum + Buffer.byteLength(event), HEAD_BYTES)
      last = { place: { number: link.number, hash: link.hash }, isComplete: at === own.length }
    } while (at < own.length)
  }
  if (parts.length > 0) yield end()
}

/** Returns the end of the events from `at` on that fit. */
function endOfPart(events: readonly string[], at: number, { maxEvents, maxBytes }: MessageLimits): number {
  let to = at
  for (let bytes = HEAD_BYTES; to < events.length && to - at < maxEvents; to++) {
    bytes += Buffer.byteLength(events[to])
    if (bytes > maxBytes) break
  }
  return to
}

/** About what a block has without its events. */
const HEAD_BYTES = 250

/** Yields the messages of removed blocks, in their order. `place` is the block that a removed one is followed by. */
export function* removedMessages(
  chainId: number | bigint,
  blocks: readonly RemovedBlock[],
  { maxEvents }: MessageLimits,
): Generator<SinkMessage> {
  for (let i = 0; i < blocks.length; i += maxEvents) {
    const part = blocks.slice(i, i + maxEvents)
    const { number, parentHash } = part[part.length - 1]
    const parts = part.map((block) => JSON.stringify(headOf(block)))
    const body = bodyOf(chainId, 'removed', parts)
    yield { id: randomUUID(), body, events: 0, isComplete: true, place: { number: number - 1, hash: parentHash } }
  }
}

function bodyOf(chainId: number | bigint, kind: 'added' | 'removed', blocks: readonly string[]): Buffer {
  return Buffer.from(`{"version":1,"chainId":"${chainId}","kind":"${kind}","blocks":[${blocks.join(',')}]}`)
}

function formatBlock(link: SinkBlock['link'], events: readonly string[], isComplete: boolean): string {
  const head = JSON.stringify({ ...headOf(link), timestamp: Number(link.timestamp), isComplete })
  return `${head.slice(0, -1)},"events":[${events.join(',')}]}`
}

function headOf({ number, hash, parentHash }: Pick<RemovedBlock, 'number' | 'hash' | 'parentHash'>): object {
  return { number, hash: formatData(hash), parentHash: formatData(parentHash) }
}
