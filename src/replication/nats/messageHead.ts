import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { parseHex } from '../../lib/hex.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { StateRange } from '../codec/types.js'
import { InvalidMessage } from '../errors.js'

/* Headers of the messages in a stream. A change set is one change that replicas apply atomically. It is one message, or
 * several if a block is larger than a message, or a reorg has several blocks.
 *
 *   Cairn-Format     1; 2 for a chain with sparse state
 *   Cairn-Kind       block | state | rewind | epoch | finality
 *   Cairn-Epoch      epoch of the writer
 *   Cairn-Number     number of the block; for other kinds, of the head after the message
 *   Cairn-Hash       hash of the same, 64 hex digits
 *   Cairn-Parent     for a block: hash of its parent
 *   Cairn-Part       for a block, or an addition to sparse state: i/n, its i-th of n messages
 *   Cairn-Unit       i/n: the i-th of the n messages of a change set
 *   Cairn-Before     number:hash, of a change set of several messages: the head before it
 *   Cairn-Reorg      number:hash:count, in the first message of a reorg: the ancestor, and how many blocks follow
 *   Cairn-State      before:after, with sparse state: the last addition to it before the change set, and after it
 *   Cairn-Safe, Cairn-Finalized   block numbers, -1 for none
 */

/** The format of this version, and that of a chain with sparse state, which earlier versions refuse. */
export const STREAM_FORMAT = 1
export const SPARSE_STREAM_FORMAT = 2

/** One of several, counted from 1. */
export interface Ordinal {
  readonly index: number
  readonly count: number
}

/** The headers of a message. */
export interface MessageHead {
  readonly kind: 'block' | 'state' | 'rewind' | 'epoch' | 'finality'
  readonly epoch: number
  /** The block, or the head after the message. */
  readonly block: BlockRef
  /** Parent hash of a block, 32 bytes. */
  readonly parentHash?: Uint8Array
  readonly part: Ordinal
  readonly unit: Ordinal
  /** In a change set of several messages: the head before it. */
  readonly before?: BlockRef
  readonly reorg?: BlockRef & { readonly count: number }
  readonly finality?: Finality
  /** With sparse state. */
  readonly state?: StateRange
}

/** Max messages of a change set. */
export const MAX_UNIT_MESSAGES = 65_536

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const textOf = ({ index, count }: Ordinal) => `${index}/${count}`
const refOf = ({ number, hash }: BlockRef) => `${number}:${hexOf(hash)}`

/** Encodes the headers. */
export function encodeHead(head: MessageHead): MsgHdrs {
  const { kind, epoch, block, parentHash, part, unit, before, reorg, finality, state } = head
  const out = headers()
  const set = (name: string, value: string | number) => out.set(`Cairn-${name}`, String(value))
  set('Format', state === undefined ? STREAM_FORMAT : SPARSE_STREAM_FORMAT)
  set('Kind', kind)
  set('Epoch', epoch)
  set('Number', block.number)
  set('Hash', hexOf(block.hash))
  if (parentHash !== undefined) set('Parent', hexOf(parentHash))
  if (hasParts(kind)) set('Part', textOf(part))
  set('Unit', textOf(unit))
  if (before !== undefined) set('Before', refOf(before))
  if (reorg !== undefined) set('Reorg', `${refOf(reorg)}:${reorg.count}`)
  if (state !== undefined) set('State', `${state.before}:${state.after}`)
  if (finality !== undefined) {
    set('Safe', finality.safe)
    set('Finalized', finality.finalized)
  }
  return out
}

/** Reads the headers of a message. @throws InvalidMessage naming the header, for an invalid one */
export function decodeHead(found: MsgHdrs | undefined): MessageHead {
  const get = (name: string): string | undefined => found?.get(`Cairn-${name}`) || undefined
  const format = get('Format')
  requireFormat(format)
  const kind = get('Kind')
  if (kind !== 'block' && kind !== 'state' && kind !== 'rewind' && kind !== 'epoch' && kind !== 'finality') {
    throw invalid('Kind', 'block, state, rewind, epoch or finality', kind)
  }
  const block = { number: numberOf('Number', get('Number')), hash: hashOf('Hash', get('Hash')) }
  const whole = { index: 1, count: 1 }
  const [safe, finalized] = [get('Safe'), get('Finalized')]
  return {
    kind,
    epoch: numberOf('Epoch', get('Epoch')),
    block,
    parentHash: kind === 'block' ? hashOf('Parent', get('Parent')) : undefined,
    part: hasParts(kind) ? ordinalOf('Part', get('Part')) : whole,
    unit: ordinalOf('Unit', get('Unit')),
    before: mapText(get('Before'), (text) => decodeRef('Before', text)),
    reorg: mapText(get('Reorg'), decodeReorg),
    state: format === String(SPARSE_STREAM_FORMAT) ? decodeRange(get('State')) : undefined,
    finality:
      safe === undefined && finalized === undefined
        ? undefined
        : { safe: numberOf('Safe', safe, -1), finalized: numberOf('Finalized', finalized, -1) },
  }
}

function hasParts(kind: MessageHead['kind']): boolean {
  return kind === 'block' || kind === 'state'
}

function requireFormat(format: string | undefined): void {
  if (format === String(STREAM_FORMAT) || format === String(SPARSE_STREAM_FORMAT)) return
  const expected = `${STREAM_FORMAT} or ${SPARSE_STREAM_FORMAT}`
  const isNewer = Number(format) > SPARSE_STREAM_FORMAT
  throw invalid('Format', expected, isNewer ? `${format}: the writer is newer, upgrade this server` : format)
}

/** True when the message is the last of its change set. */
export function endsUnit({ unit }: MessageHead): boolean {
  return unit.index === unit.count
}

function mapText<T>(text: string | undefined, read: (text: string) => T): T | undefined {
  return text === undefined ? undefined : read(text)
}

function invalid(name: string, expected: string, actual: string | undefined): InvalidMessage {
  return new InvalidMessage(`Cairn-${name}`, `expected ${expected}, got ${actual?.slice(0, 80) ?? 'none'}`)
}

function numberOf(name: string, text: string | undefined, least = 0): number {
  const value = text !== undefined && /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value) && value >= least) return value
  throw invalid(name, 'a number', text)
}

function hashOf(name: string, text: string | undefined): Uint8Array {
  if (text !== undefined && /^[0-9a-f]{64}$/.test(text)) return parseHex(text)
  throw invalid(name, '64 hex digits', text)
}

function ordinalOf(name: string, text: string | undefined): Ordinal {
  const [, index, count] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text ?? '') ?? []).map(Number)
  if (index >= 1 && index <= count && count <= MAX_UNIT_MESSAGES) return { index, count }
  throw invalid(name, `i/n of at most ${MAX_UNIT_MESSAGES}`, text)
}

function decodeRef(name: string, text: string): BlockRef {
  const [number, hash, ...more] = text.split(':')
  if (more.length > 0) throw invalid(name, 'number:hash', text)
  return { number: numberOf(name, number), hash: hashOf(name, hash) }
}

function decodeReorg(text: string): BlockRef & { count: number } {
  const at = text.lastIndexOf(':')
  if (at < 0) throw invalid('Reorg', 'number:hash:count', text)
  return { ...decodeRef('Reorg', text.slice(0, at)), count: numberOf('Reorg', text.slice(at + 1)) }
}

function decodeRange(text: string | undefined): StateRange {
  const [before, after, ...more] = text?.split(':') ?? []
  if (more.length > 0 || after === undefined) throw invalid('State', 'before:after', text)
  return { before: numberOf('State', before), after: numberOf('State', after) }
}
