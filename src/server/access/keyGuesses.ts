/** Wrong keys that a client may send in a window; further ones are answered with 429. A person who mistypes stays below. */
const GUESSES = 20
const WINDOW_MS = 60_000

/** Clients that are remembered, 1 MB of them; beyond, the one whose window began first is forgotten. */
const MAX_CLIENTS = 10_000

/** Counts wrong API keys by client. */
export interface GuessLimiter {
  /** Counts a wrong key; the seconds until the next window when the client has sent too many in this one. */
  charge(client: string): number | undefined
}

/** A limiter over fixed windows. `nowMs` is a monotonic clock. */
export function createGuessLimiter(nowMs: () => number = () => performance.now()): GuessLimiter {
  /** In the order in which their windows began. */
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
      if (window.guesses <= GUESSES) return undefined
      return Math.max(1, Math.ceil((window.startMs + WINDOW_MS - now) / 1000))
    },
  }
}
