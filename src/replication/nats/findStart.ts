import { equalBytes, keyOfBytes } from '../../lib/bytes.js'
import type { ReplicaPosition } from '../../store/replication/position.js'
import type { BlockRef } from '../../sync/head/events.js'
import { ReplicationGap } from '../errors.js'
import type { NatsLink } from './connection.js'
import { endsUnit, type MessageHead } from './messageHead.js'
import type { ChainStream, StreamMessage, StreamRange } from './stream.js'
import { readStream } from './streamReader.js'

/** What a replica has. */
export interface Held {
  readonly position?: ReplicaPosition
  /** Stored blocks, newest first. */
  readonly locator: readonly BlockRef[]
  /** With sparse state: the newest addition to it. Messages with later ones are not skipped. */
  readonly state?: number
}

/** Where a replica resumes. */
export interface NatsStreamStart {
  /** The first sequence to read. */
  readonly sequence: number
  /** The head before it; undefined for a replica without blocks. */
  readonly top: BlockRef | undefined
  /** Epoch of the message before it; undefined when that is not available. */
  readonly epoch: number | undefined
}

/** The newest block of a replica is searched in this many messages before those where its number is expected, then
 *  in all. */
const MARGIN = 1024

/** Finds where a replica resumes in a stream: after its position if its newest block is still there, else after a
 *  message that made one of its blocks the head, for the newest such block. Undefined when no message has. A replica
 *  without blocks starts at the first change set. With `isNear`, searches only where the block numbers are expected.
 *  @throws the library's errors, StreamReplaced, InvalidMessage */
export async function findStart(
  link: NatsLink,
  stream: ChainStream,
  { position, locator, state }: Held,
  { signal, isNear = false }: { signal: AbortSignal; isNear?: boolean },
): Promise<NatsStreamStart | undefined> {
  const range = await stream.range()
  const [top] = locator
  if (top === undefined) return beginning(stream, range)
  if (position?.stream === stream.name) {
    const { sequence, epoch } = position
    // Its message has expired, or all have: the next one shows whether it follows.
    if (sequence === range.first - 1) return { sequence: sequence + 1, top, epoch }
    if (sequence >= range.first && sequence <= range.last) {
      const head = (await stream.message(sequence))?.head()
      if (head && makesHead(head, top)) return { sequence: sequence + 1, top, epoch: head.epoch }
    }
  }
  const { first, last } = range
  if (first > last) return undefined
  const near = await nearSequence(stream, top, range)
  const search = { link, stream, locator, state, signal, last }
  const found = await searchFrom(near, search)
  return isNear || found?.top === top || near === first ? found : await searchFrom(first, search)
}

/** Returns the sequence where the search for a block starts. */
async function nearSequence(stream: ChainStream, { number }: BlockRef, { first, last }: StreamRange): Promise<number> {
  const { head } = await stream.end()
  const back = 2 * Math.max(0, (head?.number ?? 0) - number) + MARGIN
  return Math.max(first, last - back)
}

function makesHead(head: MessageHead, { number, hash }: BlockRef): boolean {
  return endsUnit(head) && head.block.number === number && equalBytes(head.block.hash, hash)
}

/** Finds the first message that begins a change set. */
async function beginning(stream: ChainStream, { first, last }: StreamRange): Promise<NatsStreamStart | undefined> {
  for (let sequence = first; sequence <= last; sequence++) {
    const head = (await stream.message(sequence))?.head()
    if (head?.unit.index === 1) return { sequence, top: undefined, epoch: undefined }
  }
  return undefined
}

interface Search {
  readonly link: NatsLink
  readonly stream: ChainStream
  readonly locator: readonly BlockRef[]
  readonly state?: number
  readonly signal: AbortSignal
  /** The last sequence to read. */
  readonly last: number
}

/** Finds the start after the newest block of the locator that a message from `first` on made the head. */
async function searchFrom(first: number, search: Search): Promise<NatsStreamStart | undefined> {
  const { link, stream, locator, state = Number.POSITIVE_INFINITY, signal, last } = search
  const order = new Map(locator.map(({ hash }, at) => [keyOfBytes(hash), at]))
  let best = locator.length
  let found: NatsStreamStart | undefined
  try {
    for await (const message of readStream(link, stream, { from: first, headersOnly: true, signal })) {
      const head = message.head()
      const isApplied = endsUnit(head) && (head.state?.after ?? 0) <= state
      const at = isApplied ? order.get(keyOfBytes(head.block.hash)) : undefined
      if (at !== undefined && at <= best) {
        best = at
        found = { sequence: message.sequence + 1, top: locator[at], epoch: head.epoch }
      }
      if (best === 0 || message.sequence >= last) break
    }
  } catch (error) {
    // The stream dropped its first messages meanwhile.
    if (error instanceof ReplicationGap) return searchFrom(error.actual, search)
    throw error
  }
  signal.throwIfAborted()
  return found
}

/** Returns the newest block of the locator that is on the current chain of the stream: published, and not removed by
 *  a later reorg in it. Undefined when none is. @throws the library's errors, StreamReplaced, InvalidMessage, the
 *  reason of the signal */
export async function findCommonBlock(
  link: NatsLink,
  stream: ChainStream,
  locator: readonly BlockRef[],
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  const [top] = locator
  const { first, last } = await stream.range()
  if (first > last || top === undefined) return undefined
  const search = { link, stream, locator, signal, last }
  const near = await nearSequence(stream, top, { first, last })
  return (await commonFrom(near, search)) ?? (near === first ? undefined : await commonFrom(first, search))
}

/** As `findCommonBlock`, in the messages from a sequence on. */
async function commonFrom(first: number, search: Search): Promise<BlockRef | undefined> {
  const { link, stream, locator, signal, last } = search
  const wanted = new Map(locator.map((block) => [keyOfBytes(block.hash), block]))
  let common: BlockRef[] = [] // ascending
  let unit: BlockRef[] = []
  try {
    for await (const message of readStream(link, stream, { from: first, headersOnly: true, signal })) {
      const { block, reorg, unit: at } = message.head()
      if (at.index === 1) unit = reorg === undefined ? [] : [reorg]
      unit.push(block)
      if (at.index === at.count) {
        const lowest = Math.min(...unit.map(({ number }) => number))
        common = common.filter(({ number }) => number < lowest)
        for (const { hash } of unit) {
          const known = wanted.get(keyOfBytes(hash))
          if (known !== undefined) common.push(known)
        }
      }
      if (message.sequence >= last) break
    }
  } catch (error) {
    // The stream dropped its first messages meanwhile.
    if (error instanceof ReplicationGap) return commonFrom(error.actual, search)
    throw error
  }
  signal.throwIfAborted()
  return common.at(-1)
}

/** Returns the first available message; undefined when none is. */
export async function firstMessage(stream: ChainStream): Promise<StreamMessage | undefined> {
  return stream.message((await stream.range()).first)
}
