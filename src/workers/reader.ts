import { parentPort, workerData } from 'node:worker_threads'
import { deadlineBetween } from '../lib/deadline.js'
import { messageOf } from '../lib/errors.js'
import { createLogger } from '../lib/logger.js'
import type { RpcContext } from '../rpc/context.js'
import { type MethodTable, methodNotFound, runMethod } from '../rpc/dispatch.js'
import type { RpcOutcome } from '../rpc/envelope.js'
import { type OpenContext, openContext } from '../rpc/openContext.js'
import { yieldToMainThread } from './priority.js'
import type { ReaderData, ReaderMessage, ReaderRequest } from './protocol.js'

/* The entry of a reader thread: its own read-only connection, one request after another. */

const port = parentPort!
yieldToMainThread()
const options = workerData as ReaderData
const opened = openContext({ ...options, log: createLogger(options.logLevel) })
const { METHODS } = (await import(options.methodsModule)) as { METHODS: MethodTable }
if (options.loadEvm) await opened.context.evm.warm()
port.on('message', (request: ReaderRequest) => void answer(opened, request))
port.postMessage({ kind: 'ready' } satisfies ReaderMessage)
if (options.warmLogs) warmLogs(opened)

async function answer({ context }: OpenContext, request: ReaderRequest): Promise<void> {
  const method = METHODS.get(request.method)
  const deadline = deadlineBetween(request.limitMs, request.remainingMs)
  const own: RpcContext = { ...context, deadline }
  const outcome: RpcOutcome = method
    ? await runMethod(method, request.params, own)
    : { error: methodNotFound(request.method) }
  if ('error' in outcome) {
    port.postMessage({ kind: 'error', error: outcome.error } satisfies ReaderMessage)
    return
  }
  const result = ownBuffer(outcome.result)
  port.postMessage({ kind: 'result', result } satisfies ReaderMessage, [result])
}

/** A slice at a time, so that a request waits for one slice at most. */
function warmLogs({ context }: OpenContext): void {
  try {
    if (context.logs.warm()) setImmediate(warmLogs, opened)
  } catch (error) {
    context.log.warn({ error: messageOf(error) }, 'could not read the newest logs beforehand')
  }
}

/** The bytes in a buffer of just their size: a small Buffer is a view into a pool that must not be handed over. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return (whole ? bytes : new Uint8Array(bytes)).buffer as ArrayBuffer
}
