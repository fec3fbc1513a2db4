const IDLE = Symbol('idle')

/** Yields the items of an asynchronous source. When the next item does not arrive within `idleMs`, runs `onIdle` to its
 *  end before yielding the item. */
export async function* flushOnIdle<T>(
  items: AsyncIterable<T>,
  { idleMs, onIdle }: { idleMs: number; onIdle(): Promise<void> },
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]()
  let isWaiting = false
  try {
    for (;;) {
      isWaiting = true
      const next = iterator.next()
      next.catch(() => {}) // awaited below, unless `onIdle` throws
      let timer: NodeJS.Timeout | undefined
      const idle = new Promise<typeof IDLE>((resolve) => {
        timer = setTimeout(resolve, idleMs, IDLE)
      })
      const isIdle = (await Promise.race([next, idle])) === IDLE
      clearTimeout(timer)
      if (isIdle) await onIdle()
      const { done, value } = await next
      isWaiting = false
      if (done) return
      yield value
    }
  } finally {
    const ended = iterator.return?.()
    ended?.catch(() => {})
    if (!isWaiting) await ended // otherwise it ends with its next item, which may never come
  }
}
