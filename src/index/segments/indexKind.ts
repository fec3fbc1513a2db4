import type { Database } from '../../store/database.js'
import type { IndexTables } from '../../store/index/segmentStore.js'
import type { ChunkBuilder } from './chunkBuilder.js'
import type { KeyHasher } from './keyHash.js'

/** The indexed rows. */
export interface StoredItems<Item> {
  /** Number of items; ids are dense, from 0. */
  count(): number
  /** Items with ids [from, to), in order. */
  read(from: number, to: number): Iterable<Item>
}

/** Computes the keys of items. */
export interface ItemKeys<Item> {
  /** Adds all keys of an item to a builder and ends the item. */
  add(item: Item, builder: ChunkBuilder): void
}

/** One index of a database: its items, keys and tables. */
export interface IndexKind<Item> {
  /** Name in messages: `log index`. */
  readonly name: string
  /** Name of an item in messages: `log`; plural with an s. */
  readonly item: string
  readonly items: string
  readonly tables: IndexTables
  openStored(db: Database): StoredItems<Item>
  createKeys(hasher: KeyHasher): ItemKeys<Item>
}
