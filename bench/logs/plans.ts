import type { ShapeParameters } from './parameters.js'

/* What goes to and comes from the processes of the load phase. */

/** What the clients get. */
export interface ClientsPlan {
  url: string
  seed: number
  parameters: ShapeParameters
  /** Hashes of the blocks from the middle of the chain on, for the shape that asks by hash. */
  middleHashes: string[]
  clients: number
  seconds: number
}

/** Times of one kind of shape, in milliseconds. */
export interface KindTimes {
  requests: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** An answer that was kept to be checked: of question `n` of a shape, with the number of its logs. */
export interface Sample {
  shape: string
  n: number
  results: number
}

/** What the clients did. */
export interface ClientsResult {
  /** After the beginning. */
  requests: number
  /** From then to the last answer. */
  seconds: number
  requestsPerSecond: number
  megabytesPerSecond: number
  kinds: { [kind: string]: KindTimes }
  /** In the first tenth of the time, at most two seconds, when a new server has nothing in memory. */
  atBegin: { [kind: string]: KindTimes }
  /** Answers that are errors, save the refusal of more than 10,000 results, by message. */
  errors: { [message: string]: number }
  /** Requests without a whole answer of their own. */
  lost: number
  samples: Sample[]
}

/** Questions of a shape are drawn from `first` on: enough that hardly one is asked twice, and none that was asked when
 *  the shapes were measured; fewer on a short chain. */
export function variantsOf({ head }: ShapeParameters): { first: number; count: number } {
  return { first: Math.min(100, Math.floor(head / 4)), count: Math.max(1, Math.min(1_000, Math.floor(head / 2))) }
}

/** What the prober gets. */
export interface ProbePlan {
  url: string
  everyMs: number
}

/** Times of eth_blockNumber, in milliseconds, since the prober was last asked. */
export interface ProbeResult {
  probes: number
  p50Ms: number
  p99Ms: number
  maxMs: number
  errors: { [message: string]: number }
}
