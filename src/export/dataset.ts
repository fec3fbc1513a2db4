import type { StoredBlockLink } from '../store/rows/exportRows.js'
import type { Column, Row } from './columns.js'
import type { ExportSource } from './source.js'

/** Number and links of a block of either layer. */
export type ExportedBlock = Pick<StoredBlockLink, 'number' | 'hash' | 'parentHash'>

/** A table that can be exported. */
export interface Dataset<Block extends ExportedBlock = ExportedBlock> {
  /** Name on the command line. */
  readonly name: string
  /** Name in file names. */
  readonly fileName: string
  readonly summary: string
  readonly columns: readonly Column[]
  readonly layer: Layer<Block>
  /** True if rows need the state: its history, or re-execution of blocks. */
  readonly needsState?: boolean
  /** True if rows come from the address index. */
  readonly needsAppearances?: boolean
  /** True if only chains with deposits of layer 1 (the OP stack) have rows. */
  readonly needsDeposits?: boolean
  /** True if `--address` selects rows. */
  readonly filtersAddresses?: boolean
  /** What it calls, or asks calls about: token contracts, of `--contract` or `--address`; balances, of `--address` in
   *  `--contract`; calls, of `--contract` with `--call-data`. */
  readonly calls?: 'tokens' | 'balances' | 'data'
  /** True if `all` omits it, because it needs options or has many times the rows of the others. */
  readonly isByName?: boolean
  /** Returns the number of blocks read in one snapshot; all their rows are in memory at once. */
  batchBlocks(source: ExportSource): number
  /** Yields the rows of these blocks, in chain order. Called in a snapshot. */
  rows(source: ExportSource, blocks: readonly Block[]): Iterable<Row>
}

/** A chain of blocks: layer 1 or layer 2. */
export interface Layer<Block extends ExportedBlock = ExportedBlock> {
  readonly name: 'Ethereum' | 'layer-2'
  /** Returns the chain id as text, for the manifest; undefined while unknown. */
  chainId(source: ExportSource): string | undefined
  /** Returns the prefix of file names. */
  network(source: ExportSource): string
  /** Returns the numbers of the first, the newest and the newest final block; undefined without blocks. `final` may be
   *  below `first`. */
  coverage(source: ExportSource): { first: number; head: number; final: number } | undefined
  /** Returns the stored blocks in [from, to], ascending. */
  blocks(source: ExportSource, from: number, to: number): Block[]
  /** Returns the hash of the last stored block up to `number`; undefined below the first and above the head. */
  hashAt(source: ExportSource, number: number): Uint8Array | undefined
}
