import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureTables } from '../../src/store/databaseFacts.js'
import { createGrowthForecast } from '../../src/store/growthForecast.js'
import { openForReading } from '../../src/store/open.js'
import { sumParts } from '../../src/store/partSizes.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { runCairnOk } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { temporaryDirectory } from '../support/temporary.js'

test('the parts of a database and the days until its disk is full', async (t) => {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, FIXTURE_FOLDER])
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const parts = new Map(sumParts(db, measureTables(db)).map((part) => [part.part, part]))
  const logs = parts.get('logs')!
  assert.equal(logs.bytesPerItem, Math.round((logs.bytes / logs.items) * 10) / 10)
  assert.equal(logs.items, db.prepare('SELECT count(*) FROM logs').pluck().get())
  assert.ok(parts.get('state trie')!.items > 10)

  const chain = createChainReader(db)
  const head = chain.coverage()!.head
  const headMs = Number(chain.blockByNumber(head)!.header.timestamp) * 1000
  const forecast = (nowMs: number) => createGrowthForecast(db, chain, () => nowMs)()!
  const now = forecast(headMs + 60_000)
  // All blocks of a short chain: their share is the whole database.
  const pages = db.pragma('page_count', { simple: true }) as number
  const free = db.pragma('freelist_count', { simple: true }) as number
  assert.equal(now.blocks, head)
  assert.equal(now.bytesPerBlock, Math.round(((pages - free) * 4096) / head))
  assert.ok(Math.abs(now.bytesPerDay / (now.bytesPerBlock * now.blocksPerDay) - 1) < 0.01)
  assert.ok(Math.abs(now.daysLeft! / (now.freeBytes / now.bytesPerDay) - 1) < 0.1)
  assert.equal(forecast(headMs + 2 * 86_400_000).daysLeft, null)

  const text = await runCairnOk(['status', '--sizes', '--datadir', datadir])
  assert.match(text, /\ngrowth {8}[\d.,]+ kiB a block, /)
  assert.match(
    text,
    /\nsizes\n.*\n {2}transactions and receipts +\S+ \S+ +\d[\d,]* x transaction +[\d.,]+ bytes each\n/,
  )
})
