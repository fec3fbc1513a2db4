import { Worker } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { ReplicationFeed, StreamReader } from '../http/feed.js'
import type { ReplicationReply, ReplicationRequest, ReplicationThreadData } from './replicationProtocol.js'

/** Creates a feed whose frames are made in a thread. The first stream starts it, the end of the last one ends it. */
export function createReplicationWorker(datadir: string, log: Logger): ReplicationFeed {
  const readers = new Map<number, StreamReader>()
  let thread: Worker | undefined
  let exited = Promise.resolve()
  let lastId = 0
  const ask = (request: ReplicationRequest) => thread?.postMessage(request)
  const stop = () => {
    ask({ kind: 'stop' })
    thread = undefined
  }
  const launch = (): Worker => {
    const workerData: ReplicationThreadData = { datadir }
    const worker = new Worker(new URL('./replicationThread.js', import.meta.url), { workerData })
    worker.on('message', (reply: ReplicationReply) => {
      const { id } = reply
      if (reply.kind === 'end') return readers.get(id)?.end(reply.problem)
      const bytes = reply.bytes.length
      readers.get(id)?.frames(reply.bytes, () => ask({ kind: 'taken', id, bytes }))
    })
    const fail = (problem: string) => {
      if (thread !== worker) return
      thread = undefined
      log.error({ error: problem }, 'the thread that serves replicas ended')
      for (const reader of [...readers.values()]) reader.end('the server failed to read the chain')
    }
    worker.on('error', (error) => fail(messageOf(error)))
    exited = new Promise((resolve) => {
      worker.once('exit', () => {
        fail('it exited')
        resolve()
      })
    })
    return worker
  }
  return {
    open(start, reader) {
      const id = ++lastId
      readers.set(id, reader)
      thread ??= launch()
      ask({ kind: 'open', id, start })
      return () => {
        if (!readers.delete(id)) return
        ask({ kind: 'close', id })
        if (readers.size === 0) stop()
      }
    },
    async close() {
      readers.clear()
      stop()
      await exited
    },
  }
}
