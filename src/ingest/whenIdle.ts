const IDLE = Symbol('idle')

/** The items of an asynchronous source. When the next one does not come within `idleMs`, `onIdle` is run and waited for
 *  before that item is given. */
export async function* whenIdle<T>(
  items: AsyncIterable<T>,
  { idleMs, onIdle }: { idleMs: number; onIdle(): Promise<void> },
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]()
  let isWaiting = false
  try {
    for (;;) {
      isWaiting = true
      const next = iterator.next()
      next.catch(() => {}) // is waited for below, unless `onIdle` throws
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
    if (!isWaiting) await ended // else it ends when its next item comes, which may be never
  }
}
