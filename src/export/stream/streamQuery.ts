import type { LogCondition } from '../../index/logs/logSlices.js'
import type { ArrowCompression } from '../../lib/arrow/arrowStream.js'
import type { TransactionCondition } from '../../store/rows/transactionMatches.js'

/** Formats of a stream. */
export type StreamFormat = 'arrow' | 'ndjson'

/** Kinds of rows, in the order in which a slice has them. */
export const STREAM_KINDS = ['blocks', 'transactions', 'logs'] as const
export type StreamKind = (typeof STREAM_KINDS)[number]

/** What a stream has. Arrow has one kind of rows. */
export interface StreamQuery {
  readonly format: StreamFormat
  /** Of Arrow. */
  readonly compression?: ArrowCompression
  readonly blocks: boolean
  /** Transactions that match any of these; undefined: none. */
  readonly transactions?: readonly TransactionCondition[]
  /** Logs that match any of these; undefined: none. */
  readonly logs?: readonly LogCondition[]
  /** Names of columns by kind; default: all. */
  readonly fields: { readonly [K in StreamKind]?: readonly string[] }
  /** End at the newest finalized block. */
  readonly finalizedOnly: boolean
}

/** A canonical block. */
export interface RecentBlock {
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** Where a slice begins. */
export interface StreamPosition {
  readonly from: number
  /** Last block of the stream, if it is bounded. */
  readonly to?: number
  /** Earlier blocks that the client has read, ascending. */
  readonly recent: readonly RecentBlock[]
  /** True for the first slice of a response. */
  readonly isFirst: boolean
  /** About the bytes of the slice at most, if less than usual. */
  readonly maxBytes?: number
  /** Where the rows are written if they fit; nothing else writes to it or reads it meanwhile. */
  readonly memory?: SharedArrayBuffer
}

/** The newest block, and the number of the newest finalized one. */
export interface StreamHead extends RecentBlock {
  readonly finalized?: number
}

/** A part of a stream: rows of whole blocks. */
export interface StreamSlice {
  /** True if blocks of `position.recent` were replaced. The slice has no rows, and `nextBlock` is the first block to
   *  read again. */
  readonly isForked: boolean
  readonly nextBlock: number
  /** Last block of the stream. */
  readonly to: number
  readonly head?: StreamHead
  /** The block before its first one, if it is stored. */
  readonly before?: RecentBlock
  /** Blocks before `nextBlock`, ascending: the last ones, and earlier ones at growing distances. */
  readonly recent: readonly RecentBlock[]
  readonly rows: number
  /** The rows in the format of the stream, one part after the other; valid until the next slice is read. */
  readonly parts: readonly Uint8Array[]
}
