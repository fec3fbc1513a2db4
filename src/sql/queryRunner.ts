import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { CairnError } from '../lib/errors.js'
import { type Batch, MEMORY_SIGNAL, type QueryProcessOptions, type QueryReply, type QueryRequest } from './protocol.js'

/** A query that failed; the message is for its author. */
export class QueryFailed extends CairnError {}

/** A query that timed out or was stopped. */
export class QueryStopped extends CairnError {}

/** Runs queries in a separate process, one at a time. */
export interface QueryRunner {
  /** Yields batches of rows, each read on demand. Ending the loop, `signal` and `timeoutMs` end the query.
   *  @throws QueryFailed, QueryStopped */
  run(query: Omit<Extract<QueryRequest, { kind: 'run' }>, 'kind'>, options?: RunOptions): AsyncGenerator<Batch>
  close(): void
}

/** What ends a query. */
interface RunOptions {
  readonly signal?: AbortSignal
  /** Time limit of the whole query, including reading its rows, from when its process is ready. */
  readonly timeoutMs?: number
}

// JavaScript heap: batches of a few hundred kilobytes and the decoder.
const HEAP_MB = 192

/** Creates a runner and starts its process at once. */
export function createQueryRunner(options: QueryProcessOptions): QueryRunner {
  let child: ChildProcess | undefined
  let isClosed = false
  /** Resolves at the first message of a process, or its end. */
  const ready = new WeakMap<ChildProcess, Promise<unknown>>()
  const start = (): ChildProcess => {
    const started = fork(fileURLToPath(new URL('./queryProcess.js', import.meta.url)), [JSON.stringify(options)], {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    })
    started.on('exit', () => {
      if (child === started) child = undefined
    })
    started.on('error', () => {})
    ready.set(
      started,
      new Promise((resolve) => started.once('message', resolve).once('exit', resolve).once('error', resolve)),
    )
    return started
  }
  const restart = () => {
    child?.kill('SIGKILL')
    child = isClosed ? undefined : start()
  }
  child = start()
  async function* run(
    query: Omit<Extract<QueryRequest, { kind: 'run' }>, 'kind'>,
    { signal, timeoutMs }: RunOptions = {},
  ) {
    child ??= start()
    await ready.get(child)
    if (child === undefined) throw new QueryFailed('the process of the query died')
    const stops = [...(signal ? [signal] : []), ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)])]
    const stop = AbortSignal.any(stops)
    let isDone = false
    try {
      for (let request: QueryRequest = { kind: 'run', ...query }; !isDone; request = { kind: 'next' }) {
        const reply = await ask(child, request, stop)
        isDone = reply.kind === 'failed' || reply.isLast
        if (reply.kind === 'failed') throw new QueryFailed(reply.message)
        yield reply
      }
    } catch (error) {
      if (stop.aborted && !signal?.aborted) throw new QueryStopped(`the query took longer than ${timeoutMs! / 1000} s`)
      throw error
    } finally {
      if (!isDone || stop.aborted) restart()
    }
  }
  return {
    run,
    close() {
      isClosed = true
      child?.kill('SIGKILL')
    },
  }
}

/** Sends a request and waits for its reply. @throws QueryStopped; QueryFailed if the process dies */
function ask(
  child: ChildProcess,
  request: QueryRequest,
  stop: AbortSignal,
): Promise<Exclude<QueryReply, { kind: 'ready' }>> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', onMessage).off('exit', onExit)
      stop.removeEventListener('abort', onStop)
    }
    const onMessage = (reply: QueryReply) => {
      if (reply.kind === 'ready') return
      settle()
      resolve(reply)
    }
    const onExit = (_code: number | null, signal: NodeJS.Signals | null) => {
      settle()
      reject(
        new QueryFailed(signal === MEMORY_SIGNAL ? 'the query needs too much memory' : 'the process of the query died'),
      )
    }
    const onStop = () => {
      settle()
      reject(new QueryStopped('the query was stopped'))
    }
    if (stop.aborted) return onStop()
    child.on('message', onMessage).on('exit', onExit)
    stop.addEventListener('abort', onStop)
    child.send(request, (error) => error && onExit(null, null))
  })
}
