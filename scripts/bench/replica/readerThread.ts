import { parentPort, workerData } from 'node:worker_threads'
import { createChainReader } from '../../../src/store/chain/chainReader.js'
import { createDataVersion } from '../../../src/store/commitWatch.js'
import { openForReading } from '../../../src/store/open.js'

/* A thread that reads each new block as soon as its connection sees it, and tells when it has. */

/** A block that was read, and when, in milliseconds since 1970. */
export interface ReaderReply {
  number: number
  atMs: number
}

const db = openForReading(workerData as string)
const chain = createChainReader(db)
const version = createDataVersion(db)
const cell = new Int32Array(new SharedArrayBuffer(4))
let known = -1
let last = chain.head() ?? -1
for (;;) {
  const now = version()
  const head = now === known ? last : chain.head()!
  known = now
  for (; last < head; last++) {
    const block = chain.blockByNumber(last + 1)!
    chain.transactions(block)
    chain.receipts(block)
    const reply: ReaderReply = { number: last + 1, atMs: performance.timeOrigin + performance.now() }
    parentPort!.postMessage(reply)
  }
  Atomics.wait(cell, 0, 0, 0.3)
}
