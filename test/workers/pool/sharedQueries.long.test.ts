import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { createMetrics } from '../../../src/lib/metrics.js'
import { bindCall } from '../../../src/rpc/core/boundCall.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { ReaderPool } from '../../../src/workers/pool/readerPool.js'
import { numberedBytes, writeLogs } from '../../index/logs/randomLogs.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const BLOCKS = 300

test('wide queries wake the other threads, which then help with them, and answer as one thread does', async (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const { below } = seededRandom(321)
  const addresses = [1, 2, 3, 4].map((n) => numberedBytes(n, 20))
  const log = () => ({ address: addresses[below(4)], topics: [], data: numberedBytes(below(2 ** 32), 32) })
  const blocks = Array.from({ length: BLOCKS }, () => [Array.from({ length: 30 + below(20) }, log)])
  const placed = writeLogs(db, 0, blocks)
  db.close()
  const metrics = createMetrics()
  const pool = new ReaderPool({
    ...{ metrics, datadir, limits: DEFAULT_LIMITS, logging: { level: 'silent' }, log: silentLogger },
    ...{ scanThreads: 2, evmThreads: 1, evm: 'cairn' },
  })
  t.after(() => pool.close())
  await pool.warm()
  assert.equal(pool.threadCount(), 1)
  /** Asks for the logs of three addresses from a block on, some 9,000, and compares them with what was written. */
  const ask = async (fromBlock: number) => {
    const wanted = addresses.filter((_, i) => i !== fromBlock % 4)
    const filter = { fromBlock: formatQuantity(fromBlock), toBlock: 'latest', address: wanted.map(formatData) }
    const outcome = await pool.run(bindCall(METHODS.get('eth_getLogs')!, [filter]))
    assert.ok('result' in outcome)
    const found = JSON.parse(Buffer.from(outcome.result).toString()) as { logIndex: string; data: string }[]
    const expected = placed.filter((log) => log.blockNumber >= fromBlock && wanted.includes(log.address))
    const textOf = (logs: readonly (readonly [string, string])[]) => logs.join('\n')
    const isEqual =
      textOf(found.map(({ logIndex, data }) => [logIndex, data])) ===
      textOf(expected.map(({ logIndex, data }) => [formatQuantity(logIndex), formatData(data)]))
    assert.ok(isEqual, `from block ${fromBlock}`)
  }
  for (let from = 0; from < 3; from++) await ask(from)
  await pool.ready()
  for (let from = 3; from < 23; from++) await ask(from)
  const helps = metrics.value('cairn_threads_helped_total')!
  assert.ok(helps >= 5, `${helps} helps`)
  // Several at once find no thread idle for long, and are right all the same.
  await Promise.all(Array.from({ length: 30 }, (_, from) => ask(from)))
})
