import { parentPort, workerData } from 'node:worker_threads'
import { cryptoImplementations } from '../../chain/crypto.js'
import type { SharedWork } from '../../index/logs/sharedBatches.js'
import { fillsBuffer } from '../../lib/bytes.js'
import { type Deadline, DeadlineExceeded, deadlineBetween } from '../../lib/deadline.js'
import { messageOf } from '../../lib/errors.js'
import { collectGarbageSoon } from '../../lib/garbageCollection.js'
import { createLogger } from '../../lib/logger.js'
import { sharedClockMs } from '../../lib/sharedClock.js'
import type { RpcContext } from '../../rpc/core/context.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import type { RpcErrorBody } from '../../rpc/core/errors.js'
import type { MethodTable } from '../../rpc/core/method.js'
import { type OpenContext, openContext } from '../../rpc/core/openContext.js'
import { runCallMessage } from '../../rpc/core/runCall.js'
import { INTERNAL_METHODS } from '../../rpc/internalMethods.js'
import { loadMethods } from '../../rpc/loadMethods.js'
import { warmCalls, warmLogQueries } from '../../rpc/warmUp.js'
import { returnFreedMemory } from '../../store/freedMemory.js'
import { yieldToMainThread } from '../priority.js'
import { openClaims } from './claims.js'
import { openFlow } from './partFlow.js'
import { NotQuick, quickDeadline } from './quickQueue.js'
import type { ReaderCommand, ReaderData, ReaderMessage, ReaderRequest } from './readerHandle.js'

/* Entry point of a reader thread, which has its own read-only connection and runs one request at a time. */

// Transferring a buffer costs several microseconds, whatever its size.
const COPIED_BYTES = 4096

// Slices of the log index's tail read before the thread is ready: all of it if the index is up to date, in about 0.2 s.
// The rest is read between requests.
const TAIL_SLICES = 20

const port = parentPort!
const options = workerData as ReaderData
const claims = openClaims(options.claims)
if (!options.awaited) yieldToMainThread(options.niceness)
// The first database loads the addon of better-sqlite3, which aborts the process if its thread is terminated meanwhile.
claims.setUnterminable(true)
leaveIfStopped()
const opened = openContext({ ...options, log: createLogger(options.logging) })
claims.setUnterminable(false)
leaveIfStopped()
const methods: MethodTable = new Map([...(await loadMethods(options.methodsModule)), ...INTERNAL_METHODS])
if (options.loadEvm) {
  await opened.loadEvm()
  cryptoImplementations() // loads them, so that the first ECRECOVER does not
  await warmCalls(methods, opened.context)
}
const hasMoreLogs = options.warmLogs && readTail(opened, TAIL_SLICES)
if (options.warmLogs) await warmLogQueries(methods, opened.context)
if (options.awaited) yieldToMainThread(options.niceness)
const flow = openFlow(options.flow)
const waiting: ReaderRequest[] = []
let working = false
let returning: NodeJS.Timeout | undefined
port.on('message', (request: ReaderRequest | ReaderCommand) => {
  if (request === 'stop') process.exit() // this thread
  clearTimeout(returning)
  if (request === 'rest') return rest()
  waiting.push(request)
  if (!working) void work()
})
port.postMessage({ kind: 'ready' } satisfies ReaderMessage)
if (hasMoreLogs) setImmediate(readTailOn)

/** Ends a thread that is asked to stop while it opens the database. */
function leaveIfStopped(): void {
  if (claims.stopRequested()) process.exit() // this thread
}

/** Returns memory to the system: garbage of this thread now, and, unless requests come before, what all threads have
 *  freed. */
function rest(): void {
  collectGarbageSoon()
  returning = setTimeout(returnFreedMemory, options.freedAfterMs).unref()
}

/** Runs assigned requests in order. */
async function work(): Promise<void> {
  working = true
  for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
    const nowMs = sharedClockMs()
    if (claims.begin(request.slot, nowMs)) await answer(opened, request, nowMs)
  }
  working = false
}

async function answer({ context, watch }: OpenContext, request: ReaderRequest, begunMs: number): Promise<void> {
  const { slot, limitMs, runMs, tryMs } = request
  flow.reset()
  const whole = untilStopped(deadlineBetween(limitMs, runMs), slot)
  const deadline = tryMs === undefined ? whole : quickDeadline(whole, tryMs)
  const sendPart = (bytes: Uint8Array) => {
    // Sent parts cannot be taken back.
    if (tryMs !== undefined) throw new NotQuick()
    flow.reserve(slot, bytes.length, deadline)
    const part = ownBuffer(bytes)
    port.postMessage({ kind: 'part', slot, part } satisfies ReaderMessage, [part])
  }
  const askForHelp = (work: SharedWork) => port.postMessage({ kind: 'help', slot, work } satisfies ReaderMessage)
  const own: RpcContext = {
    ...context,
    deadline,
    sendPart,
    askForHelp: tryMs === undefined ? askForHelp : undefined,
    waitedMs: begunMs - request.queuedMs,
  }
  let outcome: RpcOutcome
  try {
    outcome = await watch.withSnapshot(() => runCallMessage(methods, request.call, own))
  } catch (error) {
    if (!(error instanceof NotQuick)) throw error
    port.postMessage({ kind: 'unfinished', slot } satisfies ReaderMessage)
    return
  }
  if ('error' in outcome) {
    postError(slot, outcome.error)
  } else if (outcome.result.length <= COPIED_BYTES) {
    port.postMessage({ kind: 'result', slot, result: textOf(outcome.result) } satisfies ReaderMessage)
  } else {
    const result = mostlyOwnBytes(outcome.result)
    port.postMessage({ kind: 'result', slot, result } satisfies ReaderMessage, [result.buffer])
  }
}

/** Posts an error. Large data is transferred, like results. */
function postError(slot: number, error: RpcErrorBody): void {
  if (error.dataJson === undefined) {
    port.postMessage({ kind: 'error', slot, error } satisfies ReaderMessage)
    return
  }
  const dataJson = new Uint8Array(ownBuffer(error.dataJson))
  port.postMessage({ kind: 'error', slot, error: { ...error, dataJson } } satisfies ReaderMessage, [dataJson.buffer])
}

/** Returns a deadline that also passes when the thread is asked to stop, or its request is aborted. */
function untilStopped(deadline: Deadline, slot: number): Deadline {
  return {
    ...deadline,
    check() {
      if (claims.stopRequested() || claims.isAborted(slot)) throw new DeadlineExceeded(deadline.limitMs)
      deadline.check()
    },
  }
}

/** Reads slices of the log index's tail, which the first query would otherwise read. True if more is left. */
function readTail({ context }: OpenContext, slices: number): boolean {
  try {
    for (let i = 0; i < slices; i++) if (!context.logs.warm()) return false
    return true
  } catch (error) {
    context.log.warn({ error: messageOf(error) }, 'could not read the newest logs beforehand')
    return false
  }
}

/** Reads one slice at a time, so that a request waits for at most one. */
function readTailOn(): void {
  if (readTail(opened, 1)) setImmediate(readTailOn)
}

/** Returns the bytes as a string with one character each. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

/** Returns the bytes in a buffer that they begin and that is at most an eighth larger than they are. */
function mostlyOwnBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, length } = bytes
  const isOwn = byteOffset === 0 && fillsBuffer(bytes)
  return isOwn ? new Uint8Array(buffer as ArrayBuffer, 0, length) : new Uint8Array(bytes)
}

/** Returns the bytes in a buffer of exactly their size: a small Buffer is a view into a shared pool, which must not
 *  be transferred. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (whole ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}
