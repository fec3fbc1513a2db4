import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Finality } from '../../store/rows/types.js'
import type { BlockRef } from '../../sync/head/events.js'
import type { EncodedBlock, ReplicationUnit, StateRange } from '../codec/types.js'
import { InvalidMessage } from '../errors.js'
import { readBlockFrame, readFinality, readReorg, readStateFrame, readStateRange, type StreamFrame } from './frames.js'

/** Max accepted blocks of one reorg: a server sends at most 128. */
const MAX_REORG = 1024

/** Assembles change sets from the frames of a stream, after its first one. */
export interface UnitAssembler {
  /** Returns the change set that the frame completes; undefined when it completes none. @throws InvalidMessage for a
   *  frame out of order */
  take(frame: StreamFrame): ReplicationUnit | undefined
}

interface Reorg {
  readonly ancestor: BlockRef
  readonly count: number
  readonly blocks: EncodedBlock[]
  readonly finality: Finality | undefined
  readonly state: StateRange | undefined
}

/** Creates an assembler of the frames after the block `top()`. */
export function createUnitAssembler(top: () => BlockRef | undefined): UnitAssembler {
  let reorg: Reorg | undefined
  const takeBlock = (frame: StreamFrame): ReplicationUnit | undefined => {
    const begun = readReorg(frame)
    const finality = readFinality(frame)
    const state = readStateRange(frame.head)
    if (begun !== undefined) {
      if (reorg !== undefined)
        throw new InvalidMessage('frame: reorg', 'expected the rest of the one before, got another')
      const { count, ...ancestor } = begun
      if (count > MAX_REORG)
        throw new InvalidMessage('frame: reorg', `expected at most ${MAX_REORG} blocks, got ${count}`)
      if (count === 0) return { kind: 'blocks', ancestor, blocks: [], finality, state }
      reorg = { ancestor, count, blocks: [], finality, state }
    }
    const block = readBlockFrame(frame)
    const before = reorg === undefined ? top() : (reorg.blocks.at(-1) ?? reorg.ancestor)
    if (before !== undefined) requireLink(block, before)
    if (reorg === undefined) return { kind: 'blocks', blocks: [block], finality, state }
    reorg.blocks.push(block)
    if (reorg.blocks.length < reorg.count) return undefined
    const { count: _, ...whole } = reorg
    const unit: ReplicationUnit = { kind: 'blocks', ...whole }
    reorg = undefined
    return unit
  }
  return {
    take(frame) {
      const { kind } = frame.head
      if (kind === 'block') return takeBlock(frame)
      if (reorg !== undefined) throw new InvalidMessage('frame: kind', `expected a block of the reorg, got ${kind}`)
      if (kind === 'heartbeat') return undefined
      if (kind === 'state') return readStateFrame(frame)
      const finality = kind === 'finality' ? readFinality(frame) : undefined
      if (finality === undefined)
        throw new InvalidMessage('frame: kind', `expected block, state, finality or heartbeat, got ${kind}`)
      return { kind: 'finality', finality, state: readStateRange(frame.head) }
    },
  }
}

function requireLink({ number, parentHash }: EncodedBlock, before: BlockRef): void {
  if (number !== before.number + 1) {
    throw new InvalidMessage('frame: number', `expected block ${before.number + 1}, got ${number}`)
  }
  if (equalBytes(parentHash, before.hash)) return
  throw new InvalidMessage('frame: parent', `expected ${formatData(before.hash)}, got ${formatData(parentHash)}`)
}
