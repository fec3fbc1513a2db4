import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../lib/errors.js'
import { openWriteAheadLog } from '../store/writeAheadLog.js'
import type { CheckpointerData, CheckpointerReply, CheckpointerRequest } from './checkpointer.js'
import { HELPER_NICENESS, yieldToMainThread } from './priority.js'

/* Entry point of the thread that copies WAL pages into the database on request. Its connection does nothing else, so it
 * needs no writer lock. */

yieldToMainThread(HELPER_NICENESS)
const port = parentPort!
const { path } = workerData as CheckpointerData
const log = openWriteAheadLog(path)
port.on('message', (request: CheckpointerRequest) => {
  if (request !== 'close') port.postMessage(checkpoint(request))
  else {
    log.close()
    port.close()
  }
})

// Writers of keys wait for two seconds, and get the lock between two attempts.
const RESTART_MS = 250

function checkpoint(request: 'checkpoint' | 'restart'): CheckpointerReply {
  try {
    if (request === 'restart') return { isRestarted: log.restart(RESTART_MS) }
    log.checkpoint()
    return {}
  } catch (error) {
    return { failure: { message: messageOf(error), code: (error as { code?: string }).code } }
  }
}
