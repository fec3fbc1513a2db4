import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogScanTimeout } from '../../../src/index/logs/errors.js'
import { createLogIndexer } from '../../../src/index/logs/indexer.js'
import { createLogSource } from '../../../src/index/logs/query.js'
import { type Deadline, DeadlineExceeded, noDeadline } from '../../../src/lib/deadline.js'
import { asPlaced, expectedMatches, FIRST_BLOCK, randomBlocks, randomFilter, textOf } from './randomFilters.js'
import { seededFractions, temporaryDatabase, writeLogs } from './randomLogs.js'
import { checkRefusal } from './refusals.js'

const BLOCKS = 400

test('a refusal names the largest range that is answered, with and without segments', (t) => {
  const random = seededFractions(31)
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(random, BLOCKS))
  const indexer = createLogIndexer(db, { chunkBits: 6 })
  const source = createLogSource(db)
  const seen = { fitting: 0, none: 0 }
  for (let i = 0; i < 600; i++) {
    if (i === 200) indexer.add([]) // sealed from here on
    if (i === 400) indexer.work(Number.POSITIVE_INFINITY) // merged
    const filter = randomFilter(random, BLOCKS)
    const matches = expectedMatches(logs, filter).length
    if (matches === 0) continue
    const most = random() < 0.3 ? Math.floor(random() * Math.min(4, matches)) : Math.floor(random() * matches)
    if (checkRefusal(source, logs, filter, most)) seen.fitting++
    else seen.none++
  }
  assert.ok(seen.fitting > 100 && seen.none > 20, JSON.stringify(seen))
})

/** Returns a deadline that is over after `limit` checks. */
function deadlineOfLooks(limit: number): Deadline {
  let looks = 0
  return {
    limitMs: limit,
    remainingMs: () => limit - looks,
    check: () => {
      if (++looks > limit) throw new DeadlineExceeded(limit)
    },
  }
}

test('a timeout names whole blocks that were looked at in half of the time', (t) => {
  const random = seededFractions(32)
  const db = temporaryDatabase(t)
  const logs = writeLogs(db, FIRST_BLOCK, randomBlocks(random, 3_000))
  const source = createLogSource(db)
  const filter = { fromBlock: FIRST_BLOCK + 7, toBlock: FIRST_BLOCK + 2_999, topics: [] }
  const maxResults = 1_000_000
  let reached = filter.fromBlock - 1
  for (let limit = 1; ; limit++) {
    let refusal: unknown
    try {
      source.query(filter, { deadline: deadlineOfLooks(limit), maxResults })
      break
    } catch (error) {
      refusal = error
    }
    assert.ok(refusal instanceof DeadlineExceeded, String(refusal))
    const fits = refusal instanceof LogScanTimeout ? refusal.fits : undefined
    if (!fits) continue
    assert.equal(fits.from, filter.fromBlock)
    assert.ok(fits.to >= reached && fits.to < filter.toBlock, `${fits.to} after ${reached}`)
    reached = fits.to
    const fitting = { ...filter, toBlock: fits.to }
    const found = source.query(fitting, { deadline: noDeadline, maxResults })
    assert.deepEqual(asPlaced(found).map(textOf), expectedMatches(logs, fitting).map(textOf))
  }
  assert.ok(reached > filter.fromBlock, 'at least one timeout named a range')
})
