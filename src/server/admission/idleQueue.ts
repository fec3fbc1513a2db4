/** Entries in the order of their last append. All operations are O(1). */
export interface IdleQueue<T> {
  /** Moves an entry to the end; it may be in this queue already. */
  append(entry: QueueEntry<T>): void
  /** The value appended first. */
  oldest(): T | undefined
  /** The value appended last. */
  newest(): T | undefined
}

/** An element that is in at most one queue. */
export interface QueueEntry<T> {
  readonly value: T
  previous: QueueEntry<T> | undefined
  next: QueueEntry<T> | undefined
}

/** An entry outside of any queue. */
export function createQueueEntry<T>(value: T): QueueEntry<T> {
  return { value, previous: undefined, next: undefined }
}

/** An empty queue. */
export function createIdleQueue<T>(): IdleQueue<T> {
  const ends = createQueueEntry<T | undefined>(undefined)
  ends.previous = ends
  ends.next = ends
  return {
    append(entry) {
      unlink(entry)
      entry.previous = ends.previous as QueueEntry<T>
      entry.next = ends as QueueEntry<T>
      ends.previous!.next = entry
      ends.previous = entry
    },
    oldest: () => ends.next!.value,
    newest: () => ends.previous!.value,
  }
}

/** Removes an entry from its queue, if any. */
export function unlink<T>(entry: QueueEntry<T>): void {
  if (entry.previous === undefined || entry.next === undefined) return
  entry.previous.next = entry.next
  entry.next.previous = entry.previous
  entry.previous = undefined
  entry.next = undefined
}
