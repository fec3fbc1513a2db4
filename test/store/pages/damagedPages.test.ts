import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATABASE_FILE, openForReading } from '../../../src/store/open.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { appendBlocks, awkwardLogs, createPagedDatabase, isSame, openBoth } from './pageChains.js'

const PAGE_BYTES = 1_024
const RUNS = THOROUGH ? 3_000 : 120

/** Changes some bytes of a page, more often those of its header and pointers and of the first bytes of its cells. */
function damage(page: Buffer, random: SeededRandom): void {
  for (let i = 0; i <= random.below(3); i++) {
    const cells = Math.min(100, Math.max(1, page.readUInt16BE(3)))
    const cell = page.readUInt16BE(8 + 2 * random.below(cells))
    const places = [
      random.below(12),
      random.below(60),
      (cell + random.below(15)) % PAGE_BYTES,
      random.below(PAGE_BYTES),
    ]
    const at = places[random.below(places.length)]
    page[at] = random.below(2) === 0 ? random.below(256) : page[at] ^ (1 << random.below(8))
  }
}

test('what is read from damaged pages is what SQL reads, or what was written', (t) => {
  const random = seededRandom(4)
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, PAGE_BYTES)
  appendBlocks(writer, awkwardLogs(random, 120))
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const ranges: { from: number; to: number }[] = []
  const whole = openBoth(datadir)
  whole.db.exec('BEGIN')
  for (let from = 0; from < whole.count(); from += 40) ranges.push({ from, to: Math.min(whole.count(), from + 40) })
  const written = ranges.map((range) => whole.fromSql(range))
  assert.ok(ranges.every((range, i) => isSame(whole.fromPages(range), written[i])))
  const root = whole.db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'logs'").pluck().get() as number
  const leaves = whole.db.prepare("SELECT pageno FROM dbstat WHERE name = 'logs'").pluck().all() as number[]
  whole.db.close()
  writer.close()

  const path = join(datadir, DATABASE_FILE)
  const bytes = readFileSync(path)
  const found = { pages: 0, sql: 0, failed: 0 }
  for (let run = 0; run < RUNS; run++) {
    const folder = join(datadir, `${run}`)
    mkdirSync(folder)
    const copy = join(folder, DATABASE_FILE)
    if (run % 10 === 0) {
      copyFileSync(path, copy)
      truncateSync(copy, bytes.length - random.below(bytes.length / 2))
    } else {
      const damaged = Buffer.from(bytes)
      const page = run % 5 === 0 ? root : leaves[random.below(leaves.length)]
      damage(damaged.subarray((page - 1) * PAGE_BYTES, page * PAGE_BYTES), random)
      writeFileSync(copy, damaged)
    }
    compare(folder)
  }
  assert.ok(found.pages > 3 * RUNS && found.sql > RUNS / 2 && found.failed > RUNS / 4, JSON.stringify(found))

  function compare(folder: string): void {
    const first = attempt(() => openForReading(folder))
    if (first === undefined) return
    const both = openBoth(folder)
    attempt(() => both.db.exec('BEGIN'))
    for (const [i, range] of ranges.entries()) {
      let failed = false
      const expected = attempt(
        () => both.fromSql(range),
        () => (failed = true),
      )
      const records = attempt(() => both.fromPages(range))
      found[failed ? 'failed' : records === undefined ? 'sql' : 'pages']++
      assert.ok(
        records === undefined || isSame(records, written[i]) || (!failed && isSame(records, expected)),
        `${folder}: ${range.from}`,
      )
    }
    both.db.close()
    first.close()
  }
})

/** The result of work; undefined if it throws. */
function attempt<T>(work: () => T, onError?: () => void): T | undefined {
  try {
    return work()
  } catch {
    onError?.()
    return undefined
  }
}
