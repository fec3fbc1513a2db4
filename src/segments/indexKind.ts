import type { Database } from '../store/database.js'
import type { IndexTables } from '../store/segments/segmentStore.js'
import type { ChunkBuilder } from './chunkBuilder.js'
import type { KeyHasher } from './keyHash.js'

/** What is indexed, as its rows have it. */
export interface StoredItems<Item> {
  /** How many there are: ids begin with 0 and are dense. */
  count(): number
  /** Those with ids [from, to) in their order. */
  read(from: number, to: number): Iterable<Item>
}

/** Makes the keys of items. */
export interface ItemKeys<Item> {
  /** Adds all keys of an item to a builder, and ends it. */
  add(item: Item, builder: ChunkBuilder): void
}

/** One of the indexes of a database: what it finds, by which keys, and where it lies. */
export interface IndexKind<Item> {
  /** As messages name it: `log index`. */
  readonly name: string
  /** As messages name what it finds: `log`, and `logs` for several. */
  readonly item: string
  readonly items: string
  readonly tables: IndexTables
  openStored(db: Database): StoredItems<Item>
  createKeys(hasher: KeyHasher): ItemKeys<Item>
}
