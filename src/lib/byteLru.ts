/** How much a `ByteLru` holds. */
export interface ByteLruOptions<V, K = string> {
  /** All entries together, as `sizeOf` counts them. */
  readonly maxBytes: number
  /** Bytes that an entry takes, its key and whatever holds it included. Asked once, when the entry is set. */
  sizeOf(key: K, value: V): number
}

/** Values by key, of which the least recently used ones go when their bytes are more than the bound. */
export interface ByteLru<V, K = string> {
  /** The value, which is the most recently used one then; undefined when it is not held. */
  get(key: K): V | undefined
  /** Holds the value instead of an older one of the key, and drops others until all fit. A value that is larger than the
   *  bound by itself is not held, nor is the older one then. */
  set(key: K, value: V): void
  /** Entries that are held. */
  size(): number
  /** Bytes of the entries that are held: at most the bound. */
  bytes(): number
}

/** An empty one. */
export function createByteLru<V, K = string>({ maxBytes, sizeOf }: ByteLruOptions<V, K>): ByteLru<V, K> {
  // A map gives its keys in the order in which they were set: the least recently used one is the first.
  const entries = new Map<K, { value: V; bytes: number }>()
  // One that goes on where it was: a new one would step over the places of all entries that were deleted since the map last
  // made itself anew, which takes 20 µs and more with some ten thousand entries.
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
    size: () => entries.size,
    bytes: () => total,
  }
}
