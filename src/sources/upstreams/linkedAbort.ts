import { setMaxListeners } from 'node:events'

/** An abort controller that follows other signals until it is released. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** Stops following the others. */
  release(): void
}

/** Aborts with the first of the signals that does. Node 20's `AbortSignal.any` is not used for single requests: under a
 *  signal that lives for months it keeps memory for each (nodejs/node issue 54614). */
export function linkAbort(...signals: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal) // each request in flight listens
  const links = signals.map((signal) => {
    const onAbort = () => controller.abort(signal?.reason)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    return () => signal?.removeEventListener('abort', onAbort)
  })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const unlink of links) unlink()
    },
  }
}
