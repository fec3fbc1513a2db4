import { hostname } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { equalBytes } from '../../lib/bytes.js'
import { messageOf } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { systemClock } from '../../sources/upstreams/clock.js'
import { openForReading } from '../../store/open.js'
import { STATUS_MS } from '../../workers/runWriter.js'
import { createLagClock } from '../lagClock.js'
import { connectNats, type NatsLink } from '../nats/connection.js'
import { Fenced, StreamMissing, StreamReplaced } from '../nats/errors.js'
import { createLease, type HeldLease, type Lease } from '../nats/lease.js'
import { createPublisher, type Publisher } from '../nats/publisher.js'
import { PUBLISHER_FILE, readPublisherCursor } from '../nats/publisherCursor.js'
import { type ChainStream, openStream, type StreamEnd } from '../nats/stream.js'
import { untilAnswered } from '../nats/transientError.js'
import { createReplicatedChain, type ReplicatedChain } from '../replicatedChain.js'
import type { LeaderSessionData, LeaderSessionReply, LeaderSessionRequest } from './leaderSession.js'

/* Entry point of the thread that takes the lease of the writer and publishes the chain. It reads the database, and
 * writes nothing to it. It exits by itself and is never terminated. */

/** Max time that a stopping writer publishes what is committed. */
const DRAIN_MS = 2000

const port = parentPort!
const { datadir, chain, nats, publishBlocks, logging } = workerData as LeaderSessionData
const post = (reply: LeaderSessionReply) => port.postMessage(reply)
const log = createLogger(logging)
const cursorFile = join(datadir, PUBLISHER_FILE)
const stop = new AbortController()
/** Aborts the current wait when a request arrives. */
let asked = new AbortController()
let graceMs: number | undefined
let mayPublish = false
/** Why there is no connection; null while connected. */
let connection: string | null = null
let held: HeldLease | undefined
let publisher: Publisher | undefined

function onProblem(problem: string | null): void {
  if (problem !== null && connection === null) log.warn({ problem }, 'no connection to NATS')
  if (problem === null && connection !== null) log.info({}, 'connected to NATS')
  connection = problem
}

port.on('message', (request: LeaderSessionRequest) => {
  if (request.kind === 'seek') graceMs = request.graceMs
  else if (request.kind === 'publish') mayPublish = true
  else stop.abort(new Error('the server stops'))
  asked.abort(new Error('something was asked'))
  asked = new AbortController()
})

async function untilAsked(holds: () => boolean, signal: AbortSignal): Promise<void> {
  while (!holds()) {
    const wake = AbortSignal.any([asked.signal, signal])
    if (!wake.aborted) await new Promise((resolve) => wake.addEventListener('abort', resolve, { once: true }))
    signal.throwIfAborted()
  }
}

/** Retries `work` until the servers answer. */
function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  return untilAnswered(work, { signal, onProblem: (problem) => onProblem(problem && `NATS: ${problem}`) })
}

/** Returns the epoch of the last message in the stream; 0 in an empty stream. */
async function lastEpoch(link: NatsLink): Promise<number> {
  try {
    return (await (await openStream(link, chain)).end()).epoch
  } catch (error) {
    if (error instanceof StreamMissing || error instanceof StreamReplaced) return 0
    throw error
  }
}

async function takeLease(link: NatsLink, lease: Lease): Promise<HeldLease> {
  const { signal } = stop
  for (;;) {
    await untilAsked(() => graceMs !== undefined, signal)
    const taken = await persistently(async () => lease.acquire(signal, await lastEpoch(link)), signal)
    if (taken !== undefined) return taken
    post({ kind: 'taken' })
    await lease.untilFree(signal)
    await systemClock.sleep(graceMs!, signal)
  }
}

/** True when the database has everything in the stream, or no other process has published since this one did. */
function isWhole(stream: ChainStream, { head, epoch, state = 0 }: StreamEnd, feed: ReplicatedChain): boolean {
  if (head === undefined) return true
  const own = feed.hash(head.number)
  const hasState = state <= (feed.stateBounds()?.last ?? 0)
  if (own !== undefined && equalBytes(own, head.hash) && hasState) return true
  const cursor = readPublisherCursor(cursorFile)
  return cursor?.stream === stream.name && cursor.epoch === epoch
}

/** Resolves when everything that is committed is published, or the time is over. */
async function drain(feed: ReplicatedChain, lost: AbortSignal): Promise<void> {
  const until = performance.now() + DRAIN_MS
  while (!lost.aborted && performance.now() < until && lagOf(feed) > 0) await systemClock.sleep(20)
}

function lagOf(feed: ReplicatedChain): number {
  const head = feed.head()
  const { block } = publisher?.status() ?? {}
  return head === undefined || block === undefined ? 0 : Math.max(0, head - block)
}

async function serveLeaderSession(link: NatsLink, feed: ReplicatedChain): Promise<void> {
  const holder = `${hostname()}:${process.pid}`
  const head = () => (publisher?.status().block === undefined ? null : feed.head())
  held = await takeLease(link, createLease(link, chain, { holder, head }))
  const { epoch, lost } = held
  const ended = AbortSignal.any([stop.signal, lost])
  const { stream, end } = await persistently(async () => {
    const stream = await openStream(link, chain, { create: true })
    return { stream, end: await stream.end() }
  }, ended)
  post({ kind: 'held', epoch, end: end.sequence, isWhole: isWhole(stream, end, feed) })
  await untilAsked(() => mayPublish, ended)
  const publishing = new AbortController()
  const quit = () => publishing.abort(lost.reason)
  lost.addEventListener('abort', quit, { once: true })
  if (lost.aborted) quit()
  const { signal } = publishing
  const applied = end.sequence
  publisher = createPublisher({ link, feed, chain, epoch, cursorFile, log, signal, publishBlocks, applied })
  const running = publisher.run()
  const stopping = new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve()
    else stop.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([running, stopping])
  if (stop.signal.aborted) await drain(feed, lost)
  publishing.abort(new Error('the leader session is over'))
  await running
  lost.throwIfAborted()
}

async function run(): Promise<LeaderSessionReply> {
  const db = openForReading(datadir)
  let link: NatsLink | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const feed = createReplicatedChain(db)
    const lag = createLagClock()
    const reportStatus = () => {
      const { sequence = 0, problem = null } = publisher?.status() ?? {}
      const head = feed.head() ?? -1
      const lagBlocks = lagOf(feed)
      const lagSeconds = lag.seconds(head - lagBlocks, head)
      const epoch = held?.epoch ?? 0
      post({ kind: 'status', status: { epoch, sequence, lagBlocks, lagSeconds, problem: connection ?? problem } })
    }
    timer = setInterval(reportStatus, STATUS_MS)
    link = await connectNats(nats, { log, signal: stop.signal, onProblem })
    await serveLeaderSession(link, feed)
    return { kind: 'ended', problem: '', isLost: false }
  } catch (error) {
    const isLost = error instanceof Fenced || held?.lost.aborted === true
    return { kind: 'ended', problem: stop.signal.aborted ? '' : messageOf(error), isLost }
  } finally {
    clearInterval(timer)
    await held?.release()
    await link?.close()
    db.close()
  }
}

post(await run())
port.close()
