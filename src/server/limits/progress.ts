/** Tells when something that should go on has stopped. */
export interface Progress {
  /** Looks at how far it has come; true when that is too little for too long. */
  isStalled(bytes: number, nowMs: number): boolean
}

/** Progress that must make `leastBytes` in every `stallMs`, from `nowMs` on. Bytes that become fewer are a new begin. */
export function createProgress(rule: { stallMs: number; leastBytes: number }, nowMs: number): Progress {
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
