import type { HashedTrie } from '../../sync/head/trieHasher.js'

/** Start data of the thread. */
export interface TrieHasherData {
  readonly datadir: string
  /** Memory for the trie. */
  readonly cacheBytes: number
}

/** A block to note; as in `DecodedBlock`. */
export interface NotedBlock {
  readonly blockNumber: number
  readonly encodedState: Uint8Array
}

/** Messages to the thread, handled in order. After `hash`, the next one is delayed until `stored` or `begin`.
 *  `generation` counts the calls of `begin`. */
export type TrieHasherRequest =
  | { readonly kind: 'begin'; readonly generation: number; readonly blockNumber: number }
  | { readonly kind: 'note'; readonly blocks: readonly NotedBlock[] }
  | { readonly kind: 'hash' }
  | { readonly kind: 'stored' }
  | { readonly kind: 'stop' }

/** Replies of the thread: one to each `note`, one to each `hash`, unless `failed` was sent since `begin`. */
export type TrieHasherReply = { readonly generation: number } & (
  | { readonly kind: 'noted'; readonly blocks: number; readonly size: number }
  | { readonly kind: 'hashed'; readonly hashed: HashedTrie }
  | { readonly kind: 'failed'; readonly problem: string }
)
