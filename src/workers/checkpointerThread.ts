import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'
import { messageOf } from '../lib/errors.js'
import type { CheckpointerData, CheckpointerReply, CheckpointerRequest } from './checkpointerProtocol.js'

/* The entry of a thread that copies pages from the write-ahead log, each time it is told to. Its connection does nothing
 * else, so that it needs no writer's lock. */

const port = parentPort!
const { path } = workerData as CheckpointerData
const db = new SqliteDatabase(path, { fileMustExist: true })
port.on('message', (request: CheckpointerRequest) => {
  if (request === 'checkpoint') port.postMessage(checkpoint())
  else {
    db.close()
    port.close()
  }
})

function checkpoint(): CheckpointerReply {
  try {
    // PASSIVE waits for nobody: what a reader still needs stays for the next time.
    db.pragma('wal_checkpoint(PASSIVE)')
    return {}
  } catch (error) {
    return { failure: messageOf(error) }
  }
}
