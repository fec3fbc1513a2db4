import type { Block, ConsensusReceipt } from '../chain/eth/types.js'
import { CairnError } from '../lib/errors.js'

/** A block as a source gives it: decoded, its parts not compared with its header yet. */
export interface RawBlock {
  block: Block
  /** In the order of the transactions, where the source has them. */
  receipts?: ConsensusReceipt[]
  /** Of the chain up to and with this block, where the source says it. */
  totalDifficulty?: bigint
}

/** What a reader of a source may ask for. */
export interface BlockRange {
  /** Blocks of a lower number are not wanted: a source passes over them without decoding their bodies. */
  from?: number
  /** Told of each block that is passed over. What it throws ends the iteration. */
  passedOver?(number: number, hash: Uint8Array): void
}

/** Somewhere that blocks come from, in the order of their numbers. */
export interface BlockSource {
  /** Kind of the source, as `--kind` says it. */
  readonly kind: string
  /** The file, or the address of an upstream. */
  readonly path: string
  /** How many blocks there are, where that is known before they are read. */
  readonly totalBlocks?: number
  /** Bytes of the file that the blocks given so far took, packed as they are; absent where they are not counted. */
  bytesRead?(): number
  /** The blocks, each once, from the beginning at every call.
   *  @throws SourceError from the iteration, when the next block cannot be read. */
  blocks(range?: BlockRange): Iterable<RawBlock> | AsyncIterable<RawBlock>
}

/** A source is cut off, corrupt, or not what it should be. */
export class SourceError extends CairnError {
  readonly path: string
  /** Byte at which the part that cannot be read begins; in the unpacked data for a gzip file. */
  readonly offset: number
  /** What was expected and what came. */
  readonly problem: string
  /** Which block of the source it is, counted from 0; undefined where it is none. */
  readonly ordinal?: number
  constructor(fields: { path: string; offset: number; problem: string; ordinal?: number; cause?: unknown }) {
    const { path, offset, problem, ordinal, cause } = fields
    const place = ordinal === undefined ? `byte ${offset}` : `byte ${offset} (block ${ordinal + 1} of the file)`
    super(`${path}: at ${place}: ${problem}`, { cause })
    this.path = path
    this.offset = offset
    this.problem = problem
    this.ordinal = ordinal
  }
}
