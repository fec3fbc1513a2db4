/** Detects a transfer that has stalled. */
export interface StallDetector {
  /** Records the progress so far; true when it is too little for too long. */
  isStalled(bytes: number, nowMs: number): boolean
}

/** Progress of at least `leastBytes` per `stallMs`, starting at `nowMs`. A decreasing byte count restarts it. */
export function createStallDetector(rule: { stallMs: number; leastBytes: number }, nowMs: number): StallDetector {
  let mark = 0
  let sinceMs = nowMs
  return {
    isStalled(bytes, now) {
      if (bytes < mark || bytes - mark >= rule.leastBytes) {
        mark = bytes
        sinceMs = now
      }
      return now - sinceMs > rule.stallMs
    },
  }
}
