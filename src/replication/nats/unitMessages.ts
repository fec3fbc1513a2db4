import { randomUUID } from 'node:crypto'
import type { BlockRef } from '../../sync/head/events.js'
import type { EncodedBlock, ReplicationUnit } from '../codec/types.js'
import type { MessageHead, Ordinal } from './messageHead.js'

/** A message to publish. */
export interface OutgoingMessage {
  readonly head: MessageHead
  readonly data: Uint8Array
  /** Distinguishes it from other messages that may have its sequence. */
  readonly key: string
}

/** Bytes reserved for headers in a message: they take less than 1 KB. */
export const HEADER_BYTES = 4096

const NO_BYTES = new Uint8Array(0)
const WHOLE = { index: 1, count: 1 }

/** Returns the messages of a change set, in order. Data are views into the payloads. `top`: the head before the
 *  change set. `maxBytes`: of the data of one message. */
export function messagesOf(
  unit: ReplicationUnit,
  { epoch, top, maxBytes }: { epoch: number; top: BlockRef; maxBytes: number },
): OutgoingMessage[] {
  const { state } = unit
  const common = { epoch, part: WHOLE, unit: WHOLE, state }
  const single = (head: MessageHead): OutgoingMessage[] => [{ head, data: NO_BYTES, key: randomUUID() }]
  if (unit.kind === 'epoch') return single({ ...common, kind: 'epoch', block: unit.head })
  if (unit.kind === 'state') return stateMessages(unit, { epoch, maxBytes })
  const { finality } = unit
  if (unit.kind === 'finality') return single({ ...common, kind: 'finality', block: top, finality })
  const { ancestor, blocks } = unit
  const reorg = ancestor && { ...ancestor, count: blocks.length }
  if (reorg?.count === 0) return single({ ...common, kind: 'rewind', block: reorg, reorg, finality })
  const parts = blocks.flatMap((block) => partsOf(block, maxBytes))
  const count = parts.length
  return parts.map(({ block, data, part }, at) => {
    const head: MessageHead = {
      kind: 'block',
      epoch,
      block: { number: block.number, hash: block.hash },
      parentHash: block.parentHash,
      part,
      unit: { index: at + 1, count },
      before: count > 1 ? top : undefined,
      reorg: at === 0 ? reorg : undefined,
      finality,
      state,
    }
    return { head, data, key: `${Buffer.from(block.hash).toString('hex')}:${part.index}` }
  })
}

function stateMessages(
  { head: block, payload, state }: Extract<ReplicationUnit, { kind: 'state' }>,
  { epoch, maxBytes }: { epoch: number; maxBytes: number },
): OutgoingMessage[] {
  return split(payload, maxBytes).map(({ data, part }) => {
    const before = part.count > 1 ? block : undefined
    const head: MessageHead = { kind: 'state', epoch, block, part, unit: part, before, state }
    return { head, data, key: `state ${state.after}:${part.index}:${randomUUID()}` }
  })
}

function partsOf(block: EncodedBlock, maxBytes: number) {
  return split(block.payload, maxBytes).map((each) => ({ block, ...each }))
}

function split(payload: Uint8Array, maxBytes: number): { data: Uint8Array; part: Ordinal }[] {
  const count = Math.max(1, Math.ceil(payload.length / maxBytes))
  return Array.from({ length: count }, (_, at) => ({
    data: payload.subarray(at * maxBytes, (at + 1) * maxBytes),
    part: { index: at + 1, count },
  }))
}
