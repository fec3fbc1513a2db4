/** Entries in the order in which they were last appended. Every operation takes the same time however many there are. */
export interface IdleQueue<T> {
  /** Puts an entry at the end, also one that is in this queue already. */
  append(entry: QueueEntry<T>): void
  /** The value that was appended first. */
  oldest(): T | undefined
}

/** What a queue holds; of one queue at a time. */
export interface QueueEntry<T> {
  readonly value: T
  previous: QueueEntry<T> | undefined
  next: QueueEntry<T> | undefined
}

/** An entry that is in no queue. */
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
  }
}

/** Takes an entry out of its queue, if it is in one. */
export function unlink<T>(entry: QueueEntry<T>): void {
  if (entry.previous === undefined || entry.next === undefined) return
  entry.previous.next = entry.next
  entry.next.previous = entry.previous
  entry.previous = undefined
  entry.next = undefined
}
