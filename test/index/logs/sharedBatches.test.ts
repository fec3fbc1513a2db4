import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { createLogWriter } from '../../../src/index/logs/logText.js'
import { type AskForHelp, createTexts, SharedBatches, shareWork } from '../../../src/index/logs/sharedBatches.js'
import { DeadlineExceeded, noDeadline } from '../../../src/lib/deadline.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import type { RowFilter } from '../../../src/store/rows/rowFilter.js'
import { seededRandom } from '../../support/random.js'
import { jsonOf } from './randomFilters.js'
import { numberedBytes, temporaryDatabase, writeLogs } from './randomLogs.js'

const EVERYTHING: RowFilter = { clauses: [], minTopics: 0 }
const LIMITS = { logs: 5, dataBytes: 1_000_000 }

/** Blocks of some logs each, of 7 addresses. */
function fill(db: Database, seed: number, dataBytes: (log: number) => number) {
  const { below } = seededRandom(seed)
  let count = 0
  const log = () => ({
    address: numberedBytes(1 + below(7), 20),
    topics: [1, 2].map((n) => numberedBytes(n + below(3), 32)),
    data: Uint8Array.from({ length: dataBytes(count++) }, () => 1 + below(255)),
  })
  const blocks = Array.from({ length: 40 }, () =>
    Array.from({ length: 1 + below(3) }, () => Array.from({ length: below(5) }, log)),
  )
  return writeLogs(db, 0, blocks)
}

/** A deadline that passes at the n-th check. */
function afterChecks(n: number) {
  let checks = 0
  return {
    ...noDeadline,
    check() {
      if (checks++ >= n) throw new DeadlineExceeded(n)
    },
  }
}

test('each batch is taken once, from whichever end', () => {
  const { below } = seededRandom(311)
  const texts = createTexts()
  for (let round = 0; round < 200; round++) {
    const batches = below(40)
    const range = { from: 0, to: batches * LIMITS.logs - below(LIMITS.logs) }
    const work = shareWork(range, {
      filter: EVERYTHING,
      batchLogs: LIMITS.logs,
      lastId: 0,
      lastBlock: new Uint8Array(32),
      texts,
    })!
    const [own, other] = [new SharedBatches(work), new SharedBatches(work)]
    const first: number[] = []
    const last: number[] = []
    for (;;) {
      const isFirst = below(2) === 0
      const batch = isFirst ? own.takeFirst() : other.takeLast()
      if (batch === undefined) break
      if (isFirst) first.push(batch)
      else last.push(batch)
      if (below(30) === 0) own.close()
    }
    assert.deepEqual([own.takeFirst(), own.takeLast()], [undefined, undefined])
    assert.deepEqual(first, [...first.keys()])
    assert.deepEqual(last, [...last.keys()].map((i) => Math.max(0, batches - 1 - i)).slice(0, last.length))
    assert.ok(first.length + last.length <= batches)
  }
  assert.equal(
    shareWork(
      { from: 0, to: 200_000 },
      { filter: EVERYTHING, batchLogs: 5, lastId: 0, lastBlock: new Uint8Array(32), texts },
    ),
    undefined,
  )
})

test('what two connections write is what one writes, however much the second one does', (t) => {
  const db = temporaryDatabase(t)
  const { below } = seededRandom(312)
  const logs = fill(db, 313, (n) => (n === 150 ? 9_000 : below(100)))
  const other = openForReading(dirname(db.name))
  t.after(() => void other.close())
  const { writeWanted } = createLogWriter(db, LIMITS)
  const { help } = createLogWriter(other, LIMITS)
  const addressIds = db.prepare<[], number>('SELECT id FROM addresses').pluck().all()
  let [helped, refused] = [0, 0]
  for (let round = 0; round < 200; round++) {
    const from = below(logs.length)
    const to = from + 1 + below(logs.length - from)
    const ids = Array.from({ length: to - from }, (_, i) => from + i)
    const candidates = below(2) === 0 ? { from, to } : ids.filter(() => below(4) > 0)
    const keys = addressIds.filter(() => below(2) === 0)
    const filter: RowFilter =
      keys.length === 0 ? EVERYTHING : { clauses: [{ column: 'address_id', keys, values: [] }], minTopics: below(3) }
    const askForHelp: AskForHelp = (work) => {
      helped++
      const deadline = afterChecks(below(8))
      try {
        help(work, { deadline })
      } catch (error) {
        assert.ok(error instanceof DeadlineExceeded)
      }
    }
    const alone = writeWanted(candidates, filter, { deadline: noDeadline })
    const together = writeWanted(candidates, filter, { deadline: noDeadline, askForHelp })
    if (alone === undefined) refused++
    assert.deepEqual(together?.count, alone?.count)
    assert.equal(together && jsonOf(together), alone && jsonOf(alone))
  }
  assert.ok(helped > 100 && refused > 10, `${helped} helped, ${refused} refused`)
})

test('a connection on another branch, or behind, does not help', (t) => {
  const [db, other] = [temporaryDatabase(t), temporaryDatabase(t)]
  const logs = fill(db, 314, () => 40)
  fill(other, 314, () => 40)
  const { writeWanted } = createLogWriter(db, LIMITS)
  const { help } = createLogWriter(other, LIMITS)
  const range = { from: 0, to: logs.length }
  const expected = jsonOf(writeWanted(range, EVERYTHING, { deadline: noDeadline })!)
  const write = (breakIt: string) => {
    other.exec('SAVEPOINT broken')
    other.exec(breakIt)
    let taken: number | undefined
    const askForHelp: AskForHelp = (work) => {
      help(work, { deadline: noDeadline })
      taken = new SharedBatches(work).takeLast()
    }
    const texts = writeWanted(range, EVERYTHING, { deadline: noDeadline, askForHelp })!
    other.exec('ROLLBACK TO broken')
    return { isRight: jsonOf(texts) === expected, taken }
  }
  const batches = Math.ceil(logs.length / LIMITS.logs)
  assert.deepEqual(write('SELECT 1'), { isRight: true, taken: undefined })
  const notHelped = { isRight: true, taken: batches - 1 }
  assert.deepEqual(write("UPDATE blocks SET hash = substr(hash, 2) || x'01'; UPDATE logs SET data = x''"), notHelped)
  assert.deepEqual(write('DELETE FROM blocks WHERE number > 30'), notHelped)
  assert.deepEqual(write('DELETE FROM blocks'), notHelped)
})

test('the query writes what its helper took and never delivered', (t) => {
  const db = temporaryDatabase(t)
  const logs = fill(db, 315, () => 40)
  const { writeWanted } = createLogWriter(db, LIMITS)
  const range = { from: 0, to: logs.length }
  const askForHelp: AskForHelp = (work) => void new SharedBatches(work).takeLast()
  const texts = writeWanted(range, EVERYTHING, { deadline: noDeadline, askForHelp })
  assert.equal(texts?.count, logs.length)
  const endsWaiting = { ...noDeadline, check: afterChecks(2 * logs.length).check }
  assert.equal(writeWanted(range, EVERYTHING, { deadline: endsWaiting, askForHelp })?.count, logs.length)
})

test('memory for texts is used again unless a helper may still write into it', (t) => {
  const db = temporaryDatabase(t)
  const logs = fill(db, 316, () => 40)
  const writer = createLogWriter(db, LIMITS)
  const used: SharedArrayBuffer[] = []
  const write = (askForHelp: AskForHelp) => {
    const options = {
      deadline: noDeadline,
      askForHelp: (work: Parameters<AskForHelp>[0]) => {
        used.push(work.texts)
        askForHelp(work)
      },
    }
    assert.equal(writer.writeWanted({ from: 0, to: logs.length }, EVERYTHING, options)?.count, logs.length)
  }
  let late: Parameters<AskForHelp>[0] | undefined
  write((work) => writer.help(work, { deadline: noDeadline }))
  write((work) => {
    late = work
  })
  writer.help(late!, { deadline: noDeadline }) // too late: it does nothing
  assert.equal(new SharedBatches(late!).begin(), false)
  write((work) => void new SharedBatches(work).begin()) // and works on
  write(() => {})
  const [first, second, third, fourth] = used
  assert.ok(first === second && second === third && third !== fourth)
})
