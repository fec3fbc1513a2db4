import { parentPort, workerData } from 'node:worker_threads'
import { formatData } from '../../src/lib/hex.js'
import { createDataVersion } from '../../src/store/commitWatch.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'

/* A thread that reads each new block as soon as its connection sees it, of a new branch the last, and reports when it
 * has read it. */

/** A block that was read, and when, in milliseconds since 1970. */
export interface ReaderReply {
  number: number
  hash: string
  /** It could be seen. */
  seenMs: number
  /** Its transactions and receipts were read. */
  atMs: number
}

const db = openForReading(workerData as string)
const chain = createChainReader(db)
const version = createDataVersion(db)
const cell = new Int32Array(new SharedArrayBuffer(4))
const hashOfHead = () => formatData(chain.headHash() ?? new Uint8Array(0))
let known = -1
let last = chain.head() ?? -1
let lastHash = hashOfHead()
for (;;) {
  const now = version()
  const hash = now === known ? lastHash : hashOfHead()
  known = now
  if (hash !== lastHash) {
    const seenMs = performance.timeOrigin + performance.now()
    const head = chain.head()!
    for (let number = Math.min(last + 1, head); number <= head; number++) readBlock(number, seenMs)
    last = head
    lastHash = hash
  }
  Atomics.wait(cell, 0, 0, 0.3)
}

function readBlock(number: number, seenMs: number): void {
  const block = chain.blockByNumber(number)!
  chain.transactions(block)
  chain.receipts(block)
  const atMs = performance.timeOrigin + performance.now()
  const reply: ReaderReply = { number, hash: formatData(block.hash), seenMs, atMs }
  parentPort!.postMessage(reply)
}
