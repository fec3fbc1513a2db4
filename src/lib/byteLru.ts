/** Limits of a `ByteLru`. */
interface ByteLruOptions<V, K = string> {
  /** Total of `sizeOf` over all entries. */
  readonly maxBytes: number
  /** Bytes of an entry with its key and overhead. Called once, when the entry is set. */
  sizeOf(key: K, value: V): number
}

/** An LRU cache bounded by bytes. */
export interface ByteLru<V, K = string> {
  /** The value, now the most recently used one; undefined if absent. */
  get(key: K): V | undefined
  /** Sets the value and evicts others until all fit. A value larger than the bound is not kept, and removes an older
   *  one of the key. */
  set(key: K, value: V): void
  /** Deletes the entries with such values. */
  deleteWhere(isUnwanted: (value: V) => boolean): void
  /** Number of entries. */
  size(): number
  /** Bytes of the entries: at most the bound. */
  bytes(): number
}

/** Creates an empty cache. */
export function createByteLru<V, K = string>({ maxBytes, sizeOf }: ByteLruOptions<V, K>): ByteLru<V, K> {
  // A map iterates in insertion order: the first key is the least recently used one.
  const entries = new Map<K, { value: V; bytes: number }>()
  // Kept between evictions: a new iterator would step over all entries deleted since the map last rehashed, 20 µs and
  // more with some ten thousand entries.
  let oldest = entries.keys()
  let total = 0
  const drop = (key: K) => {
    total -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value) {
      drop(key)
      const bytes = sizeOf(key, value)
      if (bytes > maxBytes) return
      entries.set(key, { value, bytes })
      total += bytes
      while (total > maxBytes) {
        let { done, value } = oldest.next()
        if (done) {
          oldest = entries.keys()
          value = oldest.next().value
        }
        drop(value!)
      }
    },
    deleteWhere(isUnwanted) {
      for (const [key, { value }] of entries) if (isUnwanted(value)) drop(key)
      oldest = entries.keys() // the iterator may refer to an older table of the map, which keeps the values
    },
    size: () => entries.size,
    bytes: () => total,
  }
}
