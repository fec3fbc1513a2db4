/** Wrong keys per client and window before the client gets 429. A person who mistypes stays below. */
const MAX_GUESSES = 20
const WINDOW_MS = 60_000

/** Clients remembered, about 1 MB. Beyond that, the client with the oldest window is dropped. */
const MAX_CLIENTS = 10_000

/** Counts wrong API keys per client. */
export interface GuessLimiter {
  /** Counts a wrong key. Returns the seconds until the next window when the client is over the limit. */
  charge(client: string): number | undefined
}

/** A limiter with fixed windows. `nowMs` is a monotonic clock. */
export function createGuessLimiter(nowMs: () => number = () => performance.now()): GuessLimiter {
  /** In order of window start. */
  const windows = new Map<string, { startMs: number; guesses: number }>()
  return {
    charge(client) {
      const now = nowMs()
      let window = windows.get(client)
      if (window === undefined || now - window.startMs >= WINDOW_MS) {
        windows.delete(client)
        window = { startMs: now, guesses: 0 }
        windows.set(client, window)
        if (windows.size > MAX_CLIENTS) windows.delete(windows.keys().next().value!)
      }
      window.guesses++
      if (window.guesses <= MAX_GUESSES) return undefined
      return Math.max(1, Math.ceil((window.startMs + WINDOW_MS - now) / 1000))
    },
  }
}
