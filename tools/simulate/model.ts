import { quantile } from '../../bench/lib/client.js'
import { seededRandom } from '../../test/support/random.js'
import type { Costs } from './costs.js'
import { drawExponential, serve } from './queue.js'

/** What is simulated. */
export interface Plan {
  readonly blockSeconds: number
  readonly blocks: number
  readonly replicas: number
  /** Of a replica that answer requests: besides the one that applies blocks. */
  readonly readCores: number
  readonly answersPerSecond: number
  readonly seed: number
}

/** A part of the system. */
export interface StationResult {
  readonly name: string
  readonly utilisation: number
  /** How much more of the same load it takes until it is always busy. */
  readonly headroom: number
}

/** What came of it. */
export interface SimulationResult {
  /** The busiest first. */
  readonly stations: readonly StationResult[]
  /** From a block's arrival at the writer until its commit there, its acknowledgement by NATS, and its commit on a
   *  replica. */
  readonly lags: readonly { readonly name: string; readonly p50Ms: number; readonly p99Ms: number }[]
  /** From a request's arrival at the load balancer until its answer. */
  readonly answers: { readonly p50Ms: number; readonly p99Ms: number }
  readonly growth: {
    readonly databaseGbPerDay: number
    readonly databaseTbPerYear: number
    /** What 7 days of the stream take on each of the NATS servers. */
    readonly streamGb: number
    readonly toEachReplicaMbitPerSecond: number
  }
}

// A validator counts a block as late after a third of its slot (consensus specification, attestation deadline).
const LATEST_ARRIVAL = 1 / 3
const RETENTION_DAYS = 7
const SAMPLED_ANSWERS = 200_000
const DAY_SECONDS = 86_400

/** Runs blocks through writer, publisher, NATS and replicas, and requests through the load balancer and the replicas.
 *  Blocks come once in a slot, up to a third of it late; their sizes are exponentially distributed around that of the
 *  measured block. */
export function simulate(costs: Costs, plan: Plan): SimulationResult {
  const random = seededRandom(plan.seed)
  const slotMs = plan.blockSeconds * 1000
  const sizes = Array.from({ length: plan.blocks }, () => drawExponential(random))
  const comesMs = sizes.map((_, i) => slotMs * (i + (LATEST_ARRIVAL * random.below(10_000)) / 10_000))
  const pass = (atMs: readonly number[], msOfBlock: number) =>
    serve(
      atMs.map((each, i) => ({ atMs: each, serviceMs: msOfBlock * sizes[i] })),
      1,
    )
  const diskMs = costs.writtenBytesPerBlock.value / (costs.diskMbPerSecond.value * 1000)
  const writer = pass(comesMs, costs.followMs.value)
  const publisher = pass(writer.doneMs, costs.encodeMs.value)
  const nats = pass(publisher.doneMs, 1000 / costs.publishPerSecond.value)
  const consumer = pass(nats.doneMs, 1000 / costs.consumePerSecond.value)
  const apply = pass(consumer.doneMs, costs.applyMs.value)
  const disk = pass(apply.doneMs, diskMs)
  const reads = simulateReads(costs, plan)
  const lag = (name: string, doneMs: readonly number[]) => {
    const lags = doneMs.map((each, i) => each - comesMs[i])
    return { name, p50Ms: quantile(lags, 0.5), p99Ms: quantile(lags, 0.99) }
  }
  const utilisations: [string, number][] = [
    ['writer: receive, execute, store', writer.utilisation],
    ['publisher: read, encode', publisher.utilisation],
    ['NATS: publish, 3 copies', nats.utilisation],
    ['replica: receive', consumer.utilisation],
    ['replica: verify, apply', apply.utilisation],
    ['replica: disk', disk.utilisation],
    ['replica: read cores', reads.replica],
    ['load balancer: 1 core', reads.balancer],
  ]
  const bytesPerDay = DAY_SECONDS / plan.blockSeconds
  return {
    stations: utilisations
      .map(([name, utilisation]) => ({ name, utilisation, headroom: 1 / utilisation }))
      .toSorted((a, b) => b.utilisation - a.utilisation),
    lags: [
      lag('committed by the writer', writer.doneMs),
      lag('acknowledged by NATS', nats.doneMs),
      lag('committed by a replica', apply.doneMs),
    ],
    answers: reads.answers,
    growth: {
      databaseGbPerDay: (bytesPerDay * costs.databaseBytesPerBlock.value) / 1e9,
      databaseTbPerYear: (365.25 * bytesPerDay * costs.databaseBytesPerBlock.value) / 1e12,
      streamGb: (RETENTION_DAYS * bytesPerDay * costs.messageBytes.value) / 1e9,
      toEachReplicaMbitPerSecond: (8 * costs.messageBytes.value) / 1e6 / plan.blockSeconds,
    },
  }
}

/** Requests come at random times (Poisson), and go to the replicas in turn. */
function simulateReads(costs: Costs, plan: Plan) {
  const random = seededRandom(plan.seed + 1)
  const gapMs = 1000 / plan.answersPerSecond
  let atMs = 0
  const comesMs = Array.from({ length: SAMPLED_ANSWERS }, () => {
    atMs += gapMs * drawExponential(random)
    return atMs
  })
  const balancer = serve(
    comesMs.map((each) => ({ atMs: each, serviceMs: costs.balancerMs.value })),
    1,
  )
  const ofReplica = balancer.doneMs.flatMap((each, i) => (i % plan.replicas === 0 ? [{ each, i }] : []))
  const replica = serve(
    ofReplica.map(({ each }) => ({ atMs: each, serviceMs: costs.readMs.value })),
    plan.readCores,
  )
  const took = replica.doneMs.map((each, n) => each - comesMs[ofReplica[n].i])
  return {
    balancer: balancer.utilisation,
    replica: replica.utilisation,
    answers: { p50Ms: quantile(took, 0.5), p99Ms: quantile(took, 0.99) },
  }
}
