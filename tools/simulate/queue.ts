import type { SeededRandom } from '../../test/support/random.js'

/** A job at a station. */
export interface Job {
  /** When it comes, in ms. Jobs are given in this order. */
  readonly atMs: number
  /** Processor or device time that it takes. */
  readonly serviceMs: number
}

/** What a station did with the jobs. */
export interface Served {
  /** When each job was done, in ms. */
  readonly doneMs: readonly number[]
  /** Share of the time, from 0 to the last job's end, in which its servers were busy. */
  readonly utilisation: number
}

/** Serves jobs first come, first served, by `servers` equal servers. */
export function serve(jobs: readonly Job[], servers: number): Served {
  const freeMs = new Array<number>(servers).fill(0)
  let busyMs = 0
  const doneMs = jobs.map(({ atMs, serviceMs }) => {
    const server = freeMs.indexOf(Math.min(...freeMs))
    const done = Math.max(atMs, freeMs[server]) + serviceMs
    freeMs[server] = done
    busyMs += serviceMs
    return done
  })
  return { doneMs, utilisation: busyMs / (servers * Math.max(...freeMs)) }
}

/** Exponentially distributed, with mean 1. */
export function drawExponential(random: SeededRandom): number {
  return -Math.log(1 - random.below(2 ** 32) / 2 ** 32)
}
