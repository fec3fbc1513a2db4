import type { BlockLink } from '../store/rows/exportRows.js'
import type { Column, Row } from './columns.js'
import type { ExportSource } from './source.js'

/** A block of either layer, as exports number and link them. */
export type ExportedBlock = Pick<BlockLink, 'number' | 'hash' | 'parentHash'>

/** A table that can be exported. */
export interface Dataset<Block extends ExportedBlock = ExportedBlock> {
  /** As on the command line. */
  readonly name: string
  /** In file names. */
  readonly fileName: string
  readonly summary: string
  readonly columns: readonly Column[]
  readonly layer: Layer<Block>
  /** It executes blocks again, which needs the state. */
  readonly needsState?: boolean
  /** `--address` selects rows of it. */
  readonly filtersAddresses?: boolean
  /** Blocks that are read in one snapshot: what they give is in memory at once. */
  batchBlocks(source: ExportSource): number
  /** The rows of these blocks, in the order of the chain. Called in a snapshot. */
  rows(source: ExportSource, blocks: readonly Block[]): Iterable<Row>
}

/** A chain of blocks: layer 1 or layer 2. */
export interface Layer<Block extends ExportedBlock = ExportedBlock> {
  readonly name: 'Ethereum' | 'layer-2'
  /** Chain id as text, for the manifest; undefined while it is not known. */
  chainId(source: ExportSource): string | undefined
  /** Prefix of file names. */
  network(source: ExportSource): string
  /** Numbers of the first, the newest and the newest final block; undefined without blocks. `final` may be below `first`. */
  coverage(source: ExportSource): { first: number; head: number; final: number } | undefined
  /** Blocks [from, to] that are stored, ascending. */
  blocks(source: ExportSource, from: number, to: number): Block[]
  /** Hash of the last stored block up to `number`; undefined below the first and beyond the head. */
  hashAt(source: ExportSource, number: number): Uint8Array | undefined
}
