/** How much a `GenerationCache` holds. */
export interface GenerationCacheOptions<K, V> {
  /** About what all entries take together, as `sizeOf` counts them. */
  readonly maxBytes: number
  /** Bytes that an entry takes, its key and whatever holds it included. */
  sizeOf(key: K, value: V): number
}

/** Values by key in bounded memory. What was used since half of the bound was filled last is kept for longer than the rest:
 *  less exact than an order of use, and several times as fast with many entries that come and go, since a map from which
 *  the oldest entries are deleted has to step over their places. */
export interface GenerationCache<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
  clear(): void
}

/** An empty one. */
export function createGenerationCache<K, V>({ maxBytes, sizeOf }: GenerationCacheOptions<K, V>): GenerationCache<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  let bytes = 0
  const set = (key: K, value: V) => {
    bytes += sizeOf(key, value)
    young.set(key, value)
    if (bytes <= maxBytes / 2) return
    old = young
    young = new Map()
    bytes = 0
  }
  return {
    get: (key) => {
      const value = young.get(key)
      if (value !== undefined) return value
      const kept = old.get(key)
      if (kept !== undefined) set(key, kept)
      return kept
    },
    set,
    delete: (key) => {
      young.delete(key)
      old.delete(key)
    },
    clear: () => {
      young = new Map()
      old = new Map()
      bytes = 0
    },
  }
}
