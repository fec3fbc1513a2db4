import type { Finality } from '../../store/rows/types.js'

/** A block by number and hash. */
export interface BlockRef {
  readonly number: number
  readonly hash: Uint8Array // 32
}

/** One change of the chain: one SQLite transaction. Blocks ascend. */
export type HeadEvent =
  | { readonly kind: 'append'; readonly blocks: readonly BlockRef[] }
  | {
      readonly kind: 'reorg'
      /** The last block that both branches have. */
      readonly ancestor: BlockRef
      readonly removed: readonly BlockRef[]
      /** The new branch; empty after `cairn rewind`. */
      readonly added: readonly BlockRef[]
    }
  | ({ readonly kind: 'finalized' } & Finality)

/** Receives changes of the chain. A listener does not change the chain itself. An error that it throws is thrown by the
 *  call that made the change, after every listener was called; the change stays. */
export interface HeadListener {
  /** Called before blocks are removed, while the writer's connection can still read them and their logs. When the
   *  transaction is rolled back, no event follows. */
  beforeRemoval?(blocks: readonly BlockRef[]): void
  /** Called after the commit: in order, each event once. */
  changed(event: HeadEvent): void
}
