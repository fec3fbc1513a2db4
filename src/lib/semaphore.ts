/** Limits concurrent tasks. */
export interface Semaphore {
  /** Runs the task when a slot is free, in FIFO order. Rejects as the task does. */
  run<T>(task: () => Promise<T>): Promise<T>
}

/** Creates a semaphore for at most `count` tasks at a time. */
export function createSemaphore(count: number): Semaphore {
  const waiting: (() => void)[] = []
  let free = count
  return {
    async run(task) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await task()
      } finally {
        // Hands the slot to the next waiting task without freeing it.
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
  }
}
