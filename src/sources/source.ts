import type { Family } from '../chain/eth/families/family.js'
import type { Block, ConsensusReceipt } from '../chain/eth/types.js'
import { CairnError } from '../lib/errors.js'
import type { SenderRecovery } from './senders/senderRecovery.js'

/** A block of a source: decoded; its parts are not compared with its header yet unless it says so. */
export interface RawBlock {
  block: Block
  /** The roots of transactions, uncles and withdrawals were compared with the header. */
  hasVerifiedRoots?: boolean
  /** In the order of the transactions, if the source has them. */
  receipts?: ConsensusReceipt[]
  /** RLP of the block access list, if the source has it (EIP-7928). */
  blockAccessList?: Uint8Array
  /** Of the chain up to and including this block, if the source has it. */
  totalDifficulty?: bigint
}

/** Options for reading a source. */
export interface SourceRange {
  /** Blocks below are skipped without decoding their bodies. */
  from?: number
  /** Called for each skipped block. An exception ends the iteration. */
  passedOver?(number: number, hash: Uint8Array): void
  /** Recovers senders ahead in another thread. Default: the calling thread recovers all. */
  senderRecovery?: SenderRecovery
  /** The family of the chain, by which block hashes are computed. Default: Ethereum. */
  family?: Family
}

/** A source of blocks, ordered by number. */
export interface BlockSource {
  /** Format of the source, a value of `--kind`. */
  readonly kind: string
  /** The file, or the address of an upstream. */
  readonly path: string
  /** Number of blocks, if known before they are read. */
  readonly totalBlocks?: number
  /** Bytes of the file, before decompression, read for the blocks so far; absent when not counted. */
  bytesRead?(): number
  /** Yields all blocks, from the beginning at every call. @throws SourceError during iteration, when the next block
   *  cannot be read */
  blocks(range?: SourceRange): Iterable<RawBlock> | AsyncIterable<RawBlock>
}

/** A truncated or corrupt source, or one of another format. */
export class SourceError extends CairnError {
  readonly path: string
  /** Byte offset of the unreadable part; in the uncompressed data for a gzip file. */
  readonly offset: number
  /** What was expected and what was found. */
  readonly problem: string
  /** Index of the block in the source, from 0; undefined outside of blocks. */
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
