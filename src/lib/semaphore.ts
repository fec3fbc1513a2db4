/** Tasks of which only some run at the same time. */
export interface Slots {
  /** What the task gives, which is begun when a slot is free, in the order of asking. Rejects with what it rejects with. */
  run<T>(task: () => Promise<T>): Promise<T>
}

/** Room for `count` tasks at a time. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = []
  let free = count
  return {
    async run(task) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await task()
      } finally {
        // A slot that somebody waits for is handed on without becoming free in between.
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
  }
}
