import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { appendBlocks, awkwardLogs, createPagedDatabase, isSame, openBoth, randomRange } from './pageChains.js'

const MS = THOROUGH ? 120_000 : 4_000

test('pages are those of the snapshot while another process commits, reorganizes and checkpoints', async (t) => {
  const random = seededRandom(8)
  const datadir = temporaryDirectory(t)
  const first = createPagedDatabase(datadir, 512)
  appendBlocks(first, awkwardLogs(random, 300))
  const readers = [openBoth(datadir), openBoth(datadir)]
  first.close()
  const script = fileURLToPath(new URL('./pageWriterProcess.js', import.meta.url))
  let isOver = false
  const writing = promisify(execFile)(process.execPath, [script, datadir, '8', `${MS}`]).finally(() => (isOver = true))
  const found = { pages: 0, sql: 0, transactions: 0 }
  while (!isOver) {
    const { db, count, fromPages, fromSql } = readers[random.below(readers.length)]
    if (!db.inTransaction) found.transactions++
    if (random.below(2) === 0 || !db.inTransaction) db.exec(db.inTransaction ? 'COMMIT' : 'BEGIN')
    for (let i = 0; i < 10 && db.inTransaction; i++) {
      const logs = count()
      if (logs === 0) continue
      const range = randomRange(random, logs, 30)
      const records = fromPages(range)
      found[records === undefined ? 'sql' : 'pages']++
      if (records !== undefined) assert.ok(isSame(records, fromSql(range)), `${range.from} ${range.to}`)
    }
    await setImmediate()
  }
  const { stdout } = await writing
  for (const { db } of readers) db.close()
  const text = `${JSON.stringify(found)}, ${stdout} commits`
  assert.ok(found.pages > MS / 4 && found.sql > MS / 40 && Number(stdout) > MS / 80, text)
})
