import { concatBytes, equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { BlockRef } from '../../sync/head/events.js'
import { StaleEpoch } from '../apply/errors.js'
import { MAX_MESSAGE_BYTES } from '../codec/deflate.js'
import type { EncodedBlock, PositionedUnit, ReplicationUnit } from '../codec/types.js'
import { InvalidMessage, ReplicationGap } from '../errors.js'
import { endsUnit, type MessageHead } from './messageHead.js'
import type { StreamMessage } from './stream.js'

/** Assembles change sets from the messages of a stream. */
export interface StreamAssembler {
  /** Returns the change set that the message completes; undefined when it completes none.
   *  @throws ReplicationGap when messages before it are missing, StaleEpoch, InvalidMessage for one that is damaged
   *    or out of order */
  take(message: StreamMessage): PositionedUnit | undefined
}

/** Where an assembler starts. */
export interface AssemblerStart {
  /** The stream's `name`, for positions, and its only subject. */
  readonly stream: { readonly name: string; readonly subject: string }
  /** Sequence of the first message. */
  readonly sequence: number
  /** The head before the first message; undefined for a replica without blocks. */
  readonly top: BlockRef | undefined
  /** Epoch of the message before it; undefined when not known. */
  readonly epoch: number | undefined
}

/** Max payload bytes of a change set: a writer's reorg has at most 128 blocks. */
export const MAX_UNIT_BYTES = 256 * 2 ** 20
/** Max blocks of a reorg. */
export const MAX_REORG_BLOCKS = 1024

/** A change set whose last message has not arrived. */
interface Pending {
  readonly first: MessageHead
  readonly index: number
  readonly bytes: number
  readonly blocks: readonly EncodedBlock[]
  /** Parts of the block after those. */
  readonly parts: readonly Uint8Array[]
}

/** Creates an assembler. Yields no partial change set: one whose writer ended within it is dropped when the next
 *  message is the epoch message of a new writer, and rejected otherwise. */
export function createStreamAssembler({ stream, sequence, top: first, epoch: known }: AssemblerStart): StreamAssembler {
  let next = sequence
  let top = first
  let epoch = known
  let pending: Pending | undefined

  const requireTop = (name: string, block: BlockRef) => {
    if (top !== undefined) requireBlock(name, top, block)
  }
  const takeSingle = (head: MessageHead, data: Uint8Array): ReplicationUnit => {
    const { kind, block, finality, reorg, state } = head
    requireNumber('Cairn-Unit', 1, head.unit.count)
    requireNumber('body', 0, data.length)
    if (kind === 'epoch') {
      requireTop('Cairn-Hash', block)
      return { kind, epoch: head.epoch, head: block, state }
    }
    if (kind === 'finality') {
      requireTop('Cairn-Hash', block)
      if (finality === undefined) throw new InvalidMessage('Cairn-Safe', 'expected a number, got none')
      return { kind, finality, state }
    }
    if (reorg?.count !== 0) throw new InvalidMessage('Cairn-Reorg', 'expected number:hash:0 of a rewind')
    requireBlock('Cairn-Hash', reorg, block)
    requireAncestor(reorg, top)
    return { kind: 'blocks', ancestor: block, blocks: [], finality, state }
  }
  const takeBlock = (head: MessageHead, data: Uint8Array): ReplicationUnit | undefined => {
    const own = pending ?? begin(head, top)
    const { first: begun } = own
    requireNextOfUnit(own, head)
    const before = own.blocks.at(-1) ?? begun.reorg ?? top
    requireNumber('Cairn-Part', own.parts.length + 1, head.part.index)
    if (before !== undefined) requireLink(head, before)
    const bytes = own.bytes + data.length
    if (bytes > MAX_UNIT_BYTES) throw new InvalidMessage('body', `expected at most ${MAX_UNIT_BYTES} bytes of a unit`)
    const parts = withPart(own, data)
    const isWhole = head.part.index === head.part.count
    const blocks = isWhole ? [...own.blocks, blockOf(head, parts)] : own.blocks
    pending = { first: begun, index: head.unit.index, bytes, blocks, parts: isWhole ? [] : parts }
    if (!endsUnit(head)) return undefined
    pending = undefined
    if (!isWhole) throw new InvalidMessage('Cairn-Part', 'expected the last part of the block at the end of the unit')
    requireNumber('Cairn-Reorg', begun.reorg?.count ?? 1, blocks.length)
    const ancestor = begun.reorg && { number: begun.reorg.number, hash: begun.reorg.hash }
    return { kind: 'blocks', ancestor, blocks, finality: head.finality, state: begun.state }
  }
  const takeState = (head: MessageHead, data: Uint8Array): ReplicationUnit | undefined => {
    const { block, state } = head
    if (state === undefined) throw new InvalidMessage('Cairn-State', 'expected before:after, got none')
    requireTop('Cairn-Hash', block)
    const own = pending ?? { first: head, index: 0, bytes: 0, blocks: [], parts: [] }
    requireNextOfUnit(own, head)
    requireNumber('Cairn-Part', head.unit.index, head.part.index)
    const parts = withPart(own, data)
    pending = endsUnit(head) ? undefined : { ...own, index: head.unit.index, parts }
    if (pending !== undefined) return undefined
    return { kind: 'state', head: block, payload: parts.length === 1 ? parts[0] : concatBytes(...parts), state }
  }
  const take = (head: MessageHead, data: Uint8Array): ReplicationUnit | undefined => {
    if (head.kind === 'block') return takeBlock(head, data)
    return head.kind === 'state' ? takeState(head, data) : takeSingle(head, data)
  }
  const requireEpoch = (head: MessageHead) => {
    if (epoch !== undefined && head.epoch < epoch) throw new StaleEpoch(head.epoch, epoch)
    if (epoch !== undefined && head.epoch > epoch && head.kind !== 'epoch') {
      throw new InvalidMessage('Cairn-Epoch', `expected ${epoch}, got ${head.epoch} without a message of kind epoch`)
    }
  }
  return {
    take: (message) => {
      if (message.sequence !== next) throw new ReplicationGap(`stream ${stream.name}`, next, message.sequence)
      if (message.subject !== stream.subject) {
        throw new InvalidMessage('subject', `expected ${stream.subject}, got ${message.subject}`)
      }
      const head = message.head()
      requireEpoch(head)
      if (head.kind === 'epoch') pending = undefined
      if (pending !== undefined && head.kind !== pending.first.kind) {
        throw new InvalidMessage(
          'Cairn-Kind',
          `expected the rest of the unit that block ${pending.first.block.number} begins, got ${head.kind}`,
        )
      }
      const unit = take(head, message.data)
      next++
      epoch = head.epoch
      if (unit === undefined) return undefined
      top = head.block
      return { unit, position: { stream: stream.name, sequence: message.sequence, epoch } }
    },
  }
}

/** Returns the state before the first message of a change set of blocks. */
function begin(head: MessageHead, top: BlockRef | undefined): Pending {
  const { unit, part, before, reorg } = head
  requireNumber('Cairn-Unit', 1, unit.index)
  if (unit.count > 1 && top !== undefined) {
    if (before === undefined) throw new InvalidMessage('Cairn-Before', 'expected number:hash, got none')
    requireBlock('Cairn-Before', top, before)
  }
  if (reorg === undefined) requireNumber('Cairn-Part', unit.count, part.count)
  else {
    if (reorg.count < 1 || reorg.count > Math.min(unit.count, MAX_REORG_BLOCKS)) {
      throw new InvalidMessage('Cairn-Reorg', `expected 1 to ${MAX_REORG_BLOCKS} blocks, got ${reorg.count}`)
    }
    requireAncestor(reorg, top)
  }
  return { first: head, index: 0, bytes: 0, blocks: [], parts: [] }
}

function requireNextOfUnit({ first, index }: Pending, { unit }: MessageHead): void {
  if (unit.index === index + 1 && unit.count === first.unit.count) return
  const expected = `${index + 1}/${first.unit.count}`
  throw new InvalidMessage('Cairn-Unit', `expected ${expected}, got ${unit.index}/${unit.count}`)
}

/** Returns the parts of a message with the next one. @throws InvalidMessage when they are too many bytes */
function withPart({ parts: before }: Pending, data: Uint8Array): Uint8Array[] {
  const parts = [...before, data]
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  if (size <= MAX_MESSAGE_BYTES) return parts
  throw new InvalidMessage('body', `expected at most ${MAX_MESSAGE_BYTES} bytes of a block or an addition to state`)
}

function blockOf({ block, parentHash }: MessageHead, parts: readonly Uint8Array[]): EncodedBlock {
  const payload = parts.length === 1 ? parts[0] : concatBytes(...parts)
  return { number: block.number, hash: block.hash, parentHash: parentHash!, payload }
}

function requireNumber(name: string, expected: number, actual: number): void {
  if (actual !== expected) throw new InvalidMessage(name, `expected ${expected}, got ${actual}`)
}

function requireBlock(name: string, expected: BlockRef, actual: BlockRef): void {
  if (actual.number === expected.number && equalBytes(actual.hash, expected.hash)) return
  throw new InvalidMessage(name, `expected ${describe(expected)}, got ${describe(actual)}`)
}

function requireLink({ block, parentHash }: MessageHead, before: BlockRef): void {
  requireNumber('Cairn-Number', before.number + 1, block.number)
  if (equalBytes(parentHash!, before.hash)) return
  throw new InvalidMessage('Cairn-Parent', `expected ${formatData(before.hash)}, got ${formatData(parentHash!)}`)
}

function requireAncestor(ancestor: BlockRef, top: BlockRef | undefined): void {
  if (top === undefined || ancestor.number < top.number) return
  requireBlock('Cairn-Reorg', top, ancestor)
}

function describe({ number, hash }: BlockRef): string {
  return `block ${number} (${formatData(hash)})`
}
