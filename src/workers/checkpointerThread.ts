import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../lib/errors.js'
import { openWriteAheadLog } from '../store/writeAheadLog.js'
import type { CheckpointerData, CheckpointerReply, CheckpointerRequest } from './checkpointerProtocol.js'

/* The entry of a thread that copies pages from the write-ahead log, each time it is told to. Its connection does nothing
 * else, so that it needs no writer's lock. */

const port = parentPort!
const { path } = workerData as CheckpointerData
const log = openWriteAheadLog(path)
port.on('message', (request: CheckpointerRequest) => {
  if (request === 'checkpoint') port.postMessage(checkpoint())
  else {
    log.close()
    port.close()
  }
})

function checkpoint(): CheckpointerReply {
  try {
    log.checkpoint()
    return {}
  } catch (error) {
    return { failure: messageOf(error) }
  }
}
