/** What a sink is doing. `retrying`: its receiver failed; `alarm`: it has stopped. */
export type SinkState = 'following' | 'catching up' | 'retrying' | 'alarm'

/** Status of the sink of a server. */
export interface SinkStatus {
  readonly state: SinkState
  /** The newest block whose delivery the receiver has acknowledged; null before the first. */
  readonly block: number | null
  /** Blocks between that block and the newest one. */
  readonly lagBlocks: number
  /** Messages and events acknowledged, and attempts that failed, since the start. */
  readonly deliveries: number
  readonly events: number
  readonly failures: number
  /** Why the last attempt failed, or the sink has stopped; null after a success. */
  readonly problem: string | null
}

/** The status of a sink that has not begun. */
export const NO_SINK_STATUS: SinkStatus = {
  state: 'catching up',
  block: null,
  lagBlocks: 0,
  deliveries: 0,
  events: 0,
  failures: 0,
  problem: null,
}
