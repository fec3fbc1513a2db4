import type { CommitWatch } from './commitWatch.js'

type Watch = Pick<CommitWatch, 'version' | 'beforeRead'>

/** Caches the result of `read` until another connection commits. In a snapshot, whose version is known, a cached result
 *  takes no call into SQLite; elsewhere the check takes a third of the time of reading the head. A writing connection
 *  reads every time: its own commits do not change the version. */
export function untilCommit<T>(watch: Watch, read: () => T): () => T {
  const readOne = eachUntilCommit<undefined, T>(watch, { read, most: 1 })
  return () => readOne(undefined)
}

/** As `untilCommit` by key, for at most `most` keys. */
export function eachUntilCommit<Key, T>(
  watch: Watch,
  { read, most }: { read: (key: Key) => T; most: number },
): (key: Key) => T {
  const known = new Map<Key, T>()
  let seen: number | undefined
  return (key) => {
    // Read the version first: after a commit in between, the value is newer than the version says and is read again.
    const now = watch.version()
    if (now === undefined) return read(key)
    if (now !== seen) {
      known.clear()
      seen = now
    } else {
      const value = known.get(key)
      if (value !== undefined || known.has(key)) return value as T
    }
    watch.beforeRead()
    const value = read(key)
    if (known.size >= most) known.clear()
    known.set(key, value)
    return value
  }
}
