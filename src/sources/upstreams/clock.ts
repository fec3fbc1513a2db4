/** Time and timers. Tests bring their own. */
export interface Clock {
  /** Milliseconds from a fixed point; monotonic. */
  nowMs(): number
  /** Unix time in milliseconds, for dates of HTTP headers. */
  unixMs(): number
  /** Resolves after `ms`. @throws the reason of `signal` when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}
