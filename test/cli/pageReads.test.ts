import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startServing } from '../../src/cli/serving.js'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createChainWriter } from '../../src/store/rows/chainWriter.js'
import { closeWritten } from '../../src/store/writeAheadLog.js'
import { createChainIndexer } from '../../src/sync/chainIndexer.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { indexedBlocks } from '../support/chains/indexedChain.js'
import { endOfFile } from '../support/endings.js'
import { request, servingOptions } from '../support/serving.js'
import { NDJSON_TYPE } from '../support/streamClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
const ending = endOfFile()
const BLOCKS = 12
let logCount = 0

before(async () => {
  const db = openForWriting(datadir)
  const indexer = createChainIndexer(db)
  await openWritableChain(db, { network: 'mainnet' }, 'none')
  const writer = createChainWriter(db)
  writer.begin()
  for (const { block, receipts } of indexedBlocks({ seed: 1 })) {
    if (block.header.number === BLOCKS) break
    writer.insertBlock(block, receipts, 0n)
    indexer.add(block, receipts)
    logCount += receipts.reduce((sum, { logs }) => sum + logs.length, 0)
  }
  writer.commit()
  closeWritten(db)
})

/** A server's answers to a stream of one column and to a log query, and what it read by system calls meanwhile. */
async function ask(pageReads: boolean) {
  const serving = await startServing({ ...servingOptions(datadir), inlineCalls: false, pageReads })
  try {
    await serving.warm()
    const send = async (path: string, body: object) => {
      const headers = { 'Content-Type': 'application/json', Accept: path === '/' ? '*/*' : NDJSON_TYPE }
      const response = await fetch(`${serving.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.equal(response.status, 200)
      return response.text()
    }
    const whole = await send('/v3/stream', { from: 0, logs: [{}] })
    const narrow = { from: 0, logs: [{}], fields: { logs: ['log_index'] } }
    const stream = await send('/v3/stream', narrow)
    // The least, once it came twice: a thread that starts meanwhile reads its modules.
    let readBytes = Number.POSITIVE_INFINITY
    for (let isLeast = false; !isLeast; ) {
      const before = bytesRead()
      assert.ok((await send('/v3/stream', narrow)) === stream)
      const own = bytesRead() - before
      isLeast = Math.abs(own - readBytes) < 1_000
      readBytes = Math.min(readBytes, own)
    }
    const range = { fromBlock: '0x3', toBlock: '0x9' }
    const logs = await send('/', request('eth_getLogs', range))
    return { stream, whole, logs, readBytes }
  } finally {
    await serving.close()
  }
}

/** Bytes that this process has read by system calls, from files and sockets; a mapped file is read without. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'latin1'))![1])
}

/** Whether another process can leave WAL mode; SQLITE_BUSY while this one has its locks on the database. */
async function leaveWalMode(): Promise<string> {
  const script = fileURLToPath(new URL('../support/journalModeProcess.js', import.meta.url))
  return (await promisify(execFile)(process.execPath, [script, join(datadir, DATABASE_FILE)])).stdout
}

test('streams and log queries without conditions read pages, answer the same without, and keep the locks of the process', {
  skip: process.platform === 'linux' ? false : 'counts system calls in /proc',
}, async () => {
  const db = openForReading(datadir)
  ending.after(() => void db.close())
  const on = await ask(true)
  // The threads have ended. Descriptors that they had opened would have been closed, and the locks dropped.
  assert.equal(await leaveWalMode(), 'SQLITE_BUSY')
  const off = await ask(false)
  assert.ok(on.stream === off.stream && on.whole === off.whole && on.logs === off.logs)
  assert.ok(on.whole.split('\n').length > logCount)
  assert.ok(JSON.parse(on.logs).result.length > 500)
  // A row has more than 100 bytes. The responses have less than 40 a log.
  assert.ok(on.readBytes - off.readBytes > 90 * logCount, `${on.readBytes} ${off.readBytes}`)
})
