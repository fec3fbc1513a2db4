/** What a consensus client sent, for health and metrics. */
export interface EngineFigures {
  /** Requests since the start. */
  readonly newPayloads: number
  readonly forkchoices: number
  /** Payloads that were answered with INVALID. */
  readonly invalidPayloads: number
  /** Time since the last request; null before the first. */
  readonly lastRequestSeconds: number | null
  /** Payloads in memory that are not final, and their encoded size. */
  readonly payloads: number
  readonly payloadBytes: number
}
