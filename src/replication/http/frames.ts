import { formatData, parseHex } from '../../lib/hex.js'
import type { Finality } from '../../store/rows/types.js'
import { MAX_MESSAGE_BYTES } from '../codec/deflate.js'
import type { EncodedBlock, ReplicationUnit, StateRange } from '../codec/types.js'
import { InvalidMessage } from '../errors.js'

/* `GET /replication` answers with frames: `u32be length | JSON | u32be length | payload`. The first frame identifies
 * the chain. A block is one frame with its message as payload. The first frame of a reorg names the common ancestor
 * and the number of block frames that belong to the reorg, itself included; if that is 0, it has no block. An addition
 * to sparse state is a frame of the kind `state`. A heartbeat is sent when nothing else is. */

/** The members of a frame's JSON. Hashes are hex DATA. */
export interface FrameHead {
  /** Format of the frames, in the first one. */
  readonly format?: number
  readonly 'chain-id'?: string
  /** Hash of block 0; null where it is not stored. */
  readonly genesis?: string | null
  readonly kind?: 'block' | 'state' | 'finality' | 'heartbeat' | 'end'
  readonly number?: number
  readonly hash?: string
  readonly parent?: string
  /** `number:hash:count` */
  readonly reorg?: string
  /** With sparse state: the entries that precede the change set, and those after it, by the last of them. */
  readonly state?: readonly [before: number, after: number]
  readonly safe?: number
  readonly finalized?: number
  /** In a heartbeat: the newest block of the server. */
  readonly head?: number | null
  /** In the last frame: why the server ends the stream. */
  readonly reason?: string
}

/** A received frame. */
export interface StreamFrame {
  readonly head: FrameHead
  readonly payload: Uint8Array
}

/** The format of this version, and that of a chain with sparse state, which earlier versions refuse. */
export const FRAME_FORMAT = 1
export const SPARSE_FRAME_FORMAT = 2

const MAX_HEAD_BYTES = 4096
const NO_BYTES = new Uint8Array(0)

/** Encodes a frame. */
export function encodeFrame(head: FrameHead, payload: Uint8Array = NO_BYTES): Buffer {
  const json = Buffer.from(JSON.stringify(head))
  const out = Buffer.allocUnsafe(8 + json.length + payload.length)
  out.writeUInt32BE(json.length, 0)
  json.copy(out, 4)
  out.writeUInt32BE(payload.length, 4 + json.length)
  out.set(payload, 8 + json.length)
  return out
}

/** Encodes a change set as frames. Returns none for an epoch, which only streams have. */
export function encodeUnit(unit: ReplicationUnit): Buffer[] {
  if (unit.kind === 'epoch') return []
  const state = unit.state && ([unit.state.before, unit.state.after] as const)
  if (unit.kind === 'finality') return [encodeFrame({ kind: 'finality', state, ...unit.finality })]
  if (unit.kind === 'state') {
    const { number, hash } = unit.head
    return [encodeFrame({ kind: 'state', number, hash: formatData(hash), state }, unit.payload)]
  }
  const { ancestor, blocks, finality } = unit
  const reorg = ancestor && `${ancestor.number}:${formatData(ancestor.hash)}:${blocks.length}`
  if (blocks.length === 0) return [encodeFrame({ kind: 'block', reorg, state, ...finality })]
  return blocks.map(({ number, hash, parentHash, payload }, at) => {
    const block = { number, hash: formatData(hash), parent: formatData(parentHash) }
    return encodeFrame({ kind: 'block', ...block, reorg: at === 0 ? reorg : undefined, state, ...finality }, payload)
  })
}

/** Splits bytes that arrive in pieces into frames. */
export interface FrameReader {
  /** Yields the frames that these bytes complete. @throws InvalidMessage */
  push(bytes: Uint8Array): Generator<StreamFrame>
  /** @throws InvalidMessage when the bytes ended within a frame */
  end(): void
}

/** Creates a reader at the start of a frame. */
export function createFrameReader(): FrameReader {
  let pieces: Uint8Array[] = []
  let length = 0
  let needed = 4
  return {
    *push(bytes) {
      pieces.push(bytes)
      length += bytes.length
      if (length < needed) return
      const all =
        pieces.length === 1 ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat(pieces)
      let at = 0
      for (;;) {
        const frame = readFrame(all.subarray(at))
        if (typeof frame === 'number') {
          needed = frame
          break
        }
        at += frame.size
        yield frame
      }
      pieces = [all.subarray(at)]
      length = all.length - at
    },
    end() {
      if (length > 0)
        throw new InvalidMessage('frame', `expected at least ${needed} bytes, got the end after ${length}`)
    },
  }
}

/** Reads the frame at the start of the bytes, or returns the number of bytes needed to read further. */
function readFrame(bytes: Buffer): (StreamFrame & { size: number }) | number {
  if (bytes.length < 4) return 4
  const headBytes = bytes.readUInt32BE(0)
  requireAtMost('length of the header', headBytes, MAX_HEAD_BYTES)
  if (bytes.length < 8 + headBytes) return 8 + headBytes
  const payloadBytes = bytes.readUInt32BE(4 + headBytes)
  requireAtMost('length of the payload', payloadBytes, MAX_MESSAGE_BYTES)
  const size = 8 + headBytes + payloadBytes
  if (bytes.length < size) return size
  return {
    head: parseHead(bytes.toString('utf8', 4, 4 + headBytes)),
    payload: bytes.subarray(8 + headBytes, size),
    size,
  }
}

function requireAtMost(part: string, value: number, most: number): void {
  if (value > most) throw new InvalidMessage(`frame: ${part}`, `expected at most ${most}, got ${value}`)
}

function parseHead(text: string): FrameHead {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new InvalidMessage('frame: header', 'expected JSON', { cause: error })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as FrameHead
  throw new InvalidMessage('frame: header', `expected an object, got ${text.slice(0, 80)}`)
}

/** Reads the block of a frame, without decoding it. @throws InvalidMessage for an invalid member */
export function readBlockFrame({ head, payload }: StreamFrame): EncodedBlock {
  return {
    number: requireNumber(head, 'number'),
    hash: requireHash('hash', head.hash),
    parentHash: requireHash('parent', head.parent),
    payload,
  }
}

/** Reads the addition to sparse state of a frame, without decoding it. @throws InvalidMessage for an invalid member */
export function readStateFrame({ head, payload }: StreamFrame): Extract<ReplicationUnit, { kind: 'state' }> {
  const state = readStateRange(head)
  if (state === undefined) throw new InvalidMessage('frame: state', 'expected two numbers, got none')
  const block = { number: requireNumber(head, 'number'), hash: requireHash('hash', head.hash) }
  return { kind: 'state', head: block, payload, state }
}

/** Reads the entries of sparse state around a change set; undefined when absent. @throws InvalidMessage */
export function readStateRange({ state }: FrameHead): StateRange | undefined {
  if (state === undefined) return undefined
  const isRange = Array.isArray(state) && state.length === 2 && state.every((id) => Number.isSafeInteger(id) && id >= 0)
  if (isRange) return { before: state[0], after: state[1] }
  throw new InvalidMessage('frame: state', `expected two numbers, got ${JSON.stringify(state).slice(0, 80)}`)
}

/** Reads the ancestor and the number of blocks of a reorg; undefined when the frame starts none.
 *  @throws InvalidMessage */
export function readReorg({
  head: { reorg },
}: StreamFrame): { number: number; hash: Uint8Array; count: number } | undefined {
  if (reorg === undefined) return undefined
  const [, number, hash, count] = /^(\d{1,15}):(0x[0-9a-f]{64}):(\d{1,9})$/.exec(String(reorg)) ?? []
  if (hash === undefined) throw new InvalidMessage('frame: reorg', `expected number:hash:count, got ${String(reorg)}`)
  return { number: Number(number), hash: parseHex(hash), count: Number(count) }
}

/** Reads the finality of a frame; undefined when absent. @throws InvalidMessage */
export function readFinality({ head }: StreamFrame): Finality | undefined {
  if (head.safe === undefined && head.finalized === undefined) return undefined
  return { safe: requireNumber(head, 'safe', -1), finalized: requireNumber(head, 'finalized', -1) }
}

function requireNumber(head: FrameHead, name: 'number' | 'safe' | 'finalized', least = 0): number {
  const value: unknown = head[name]
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number
  throw new InvalidMessage(`frame: ${name}`, `expected a number, got ${JSON.stringify(value)}`)
}

function requireHash(name: string, value: unknown): Uint8Array {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value)) return parseHex(value)
  throw new InvalidMessage(`frame: ${name}`, `expected 32 bytes, got ${JSON.stringify(value)}`)
}
