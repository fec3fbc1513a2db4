import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/** A connection that writes and a watched one that reads a number. */
function openBoth(t: TestContext, options?: { mainThread: boolean }) {
  const datadir = temporaryDirectory(t)
  const writer = openForWriting(datadir)
  t.after(() => void writer.close())
  writer.exec('CREATE TABLE probe (value INTEGER); INSERT INTO probe VALUES (0)')
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const select = db.prepare<[], number>('SELECT value FROM probe').pluck()
  return {
    db,
    watch: createCommitWatch(db, options),
    write: (value: number) => void writer.prepare('UPDATE probe SET value = ?').run(value),
    read: () => select.get()!,
  }
}

test('the version is another one after each commit of another connection', (t) => {
  const { watch, write } = openBoth(t)
  const first = watch.version()
  assert.equal(watch.version(), first)
  write(1)
  const second = watch.version()
  assert.notEqual(second, first)
  assert.equal(watch.version(), second)
})

test('after its first read, work sees one state', (t) => {
  const { db, watch, write, read } = openBoth(t)
  const seen = watch.withSnapshot(() => {
    watch.beforeRead()
    const before = read()
    write(1)
    watch.beforeRead()
    return [before, read()]
  })
  assert.deepEqual(seen, [0, 0])
  assert.equal(db.inTransaction, false)
  assert.equal(read(), 1)
})

test('work that another commit overtakes before its first read is run once more, from the beginning', (t) => {
  const { db, watch, write, read } = openBoth(t)
  const versions: (number | undefined)[] = []
  const value = watch.withSnapshot(() => {
    versions.push(watch.version())
    // Whatever is done the second time, it is in a transaction.
    write(versions.length)
    watch.beforeRead()
    return read()
  })
  assert.equal(versions.length, 2)
  assert.notEqual(versions[0], versions[1])
  assert.equal(value, 1)
  assert.equal(db.inTransaction, false)
})

for (const mainThread of [false, true]) {
  test(`asynchronous work is run once more too, main thread: ${mainThread}`, async (t) => {
    const { db, watch, write, read } = openBoth(t, { mainThread })
    const versions: (number | undefined)[] = []
    const inWork = () =>
      watch.withSnapshot(() => {
        watch.beforeRead()
        return [watch.version(), read()]
      })
    const work = watch.withSnapshot(async () => {
      versions.push(watch.version())
      write(versions.length)
      watch.beforeRead()
      const value = read()
      await null
      return value
    })
    // Work before the repetition has the version of what it reads.
    assert.deepEqual(inWork(), [watch.version(), 1])
    assert.equal(await work, 1)
    assert.equal(new Set(versions).size, 2)
    await new Promise(setImmediate)
    assert.equal(db.inTransaction, false)
    await assert.rejects(
      watch.withSnapshot(async () => {
        throw new Error('as it happens')
      }),
      /as it happens/,
    )
  })
}

test('work within such work is a part of it, and without a read no transaction is begun', (t) => {
  const { db, watch, write } = openBoth(t)
  watch.withSnapshot(() => {
    const version = watch.version()
    write(1)
    watch.withSnapshot(() => assert.equal(watch.version(), version))
    assert.equal(db.inTransaction, false)
  })
  watch.beforeRead()
  assert.equal(db.inTransaction, false)
})

test('a transaction of the work itself is its snapshot, also while rows are read', (t) => {
  const { db, watch, write, read } = openBoth(t)
  const rows = db.prepare<[], number>('SELECT value FROM probe').pluck()
  const seen: number[][] = []
  const search = db.transaction(() => {
    for (const row of rows.iterate()) {
      watch.beforeRead()
      seen.push([row, read()])
    }
  })
  watch.withSnapshot(() => {
    search()
    const isFirst = seen.length === 1
    assert.equal(db.inTransaction, !isFirst)
    if (isFirst) write(1)
    watch.beforeRead()
    seen.push([read()])
  })
  // The commit between the search and the next read made all of it run again.
  assert.deepEqual(seen, [[0, 0], [1, 1], [1]])
  assert.equal(db.inTransaction, false)
})

test('what work throws ends its transaction', (t) => {
  const { db, watch, read, write } = openBoth(t)
  const failing = () =>
    watch.withSnapshot(() => {
      watch.beforeRead()
      read()
      throw new Error('as it happens')
    })
  assert.throws(failing, /as it happens/)
  assert.equal(db.inTransaction, false)
  write(5)
  assert.equal(watch.withSnapshot(read), 5)
})

test('a connection that writes has no version, and its work is a transaction', (t) => {
  const writer = openForWriting(temporaryDirectory(t))
  t.after(() => void writer.close())
  const watch = createCommitWatch(writer)
  assert.equal(watch.version(), undefined)
  watch.withSnapshot(() => assert.equal(writer.inTransaction, true))
  assert.equal(writer.inTransaction, false)
})

test('in the main thread the version is another one after each commit, whatever the connection does', (t) => {
  const { db, watch, write, read } = openBoth(t, { mainThread: true })
  const oracle = createCommitWatch(db)
  const random = seededRandom(5)
  const pairs = new Map<number | undefined, number | undefined>()
  let value = 0
  let open: IterableIterator<unknown> | undefined
  for (let i = 0; i < 2000; i++) {
    const step = random.below(8)
    if (step === 0) write(++value)
    if (step === 1 && open === undefined) db.exec(db.inTransaction ? 'COMMIT' : 'BEGIN')
    if (step === 2 && !db.inTransaction) {
      open ??= db.prepare('SELECT value FROM probe UNION ALL SELECT 1').iterate()
      open.next()
    }
    if (step === 3) {
      open?.return?.()
      open = undefined
    }
    if (step === 4) read()
    const [asked, wanted] = [watch.version(), oracle.version()]
    assert.equal(asked, wanted, `step ${i}`)
    pairs.set(asked, wanted)
  }
  assert.ok(pairs.size > 50, `${pairs.size}`)
})

test('once per turn: work before the next turn sees the same state, unless it reads', async (t) => {
  const { watch, write, read } = openBoth(t, { mainThread: true })
  const inWork = () => watch.withSnapshot(() => watch.version())
  const first = inWork()
  write(1)
  assert.notEqual(watch.version(), first)
  const runs: (number | undefined)[] = []
  const value = watch.withSnapshot(() => {
    runs.push(watch.version())
    watch.beforeRead()
    return read()
  })
  assert.equal(value, 1)
  assert.equal(runs.at(-1), watch.version())
  await new Promise(setImmediate)
  assert.equal(inWork(), watch.version())
})

test('in the main thread, works of one turn share a transaction, which ends with the turn', async (t) => {
  const { db, watch, write, read } = openBoth(t, { mainThread: true })
  const inWork = () =>
    watch.withSnapshot(() => {
      watch.beforeRead()
      return read()
    })
  assert.equal(inWork(), 0)
  assert.equal(db.inTransaction, true)
  await new Promise(setImmediate)
  assert.equal(db.inTransaction, false)
  write(1)
  assert.equal(inWork(), 1)
  write(2)
  // The newest state is that of this moment, and the rest of the turn sees it.
  assert.equal(
    watch.withSnapshot(
      () => {
        watch.beforeRead()
        return read()
      },
      { isNewest: true },
    ),
    2,
  )
  assert.equal(inWork(), 2)
  await new Promise(setImmediate)
  assert.equal(db.inTransaction, false)
})

test('the version is current, whatever transaction of the turn is open', async (t) => {
  const { db, watch, write } = openBoth(t, { mainThread: true })
  const seen = watch.withSnapshot(() => {
    watch.beforeRead()
    return watch.version()
  })
  assert.equal(db.inTransaction, true)
  write(1)
  assert.notEqual(watch.version(), seen)
  assert.equal(db.inTransaction, false)
  await new Promise(setImmediate)
})

test('a connection that is closed within a turn is left alone at its end', async (t) => {
  const { db, watch } = openBoth(t, { mainThread: true })
  watch.withSnapshot(() => watch.beforeRead())
  db.close()
  await new Promise(setImmediate)
})

test('work starts with its transaction after work that has read, and when it certainly reads', (t) => {
  const { db, watch, write, read } = openBoth(t)
  const opened = (options?: { reads: boolean }) => watch.withSnapshot(() => db.inTransaction, options)
  assert.equal(opened(), false)
  assert.equal(opened({ reads: true }), true)
  assert.equal(opened(), false)
  watch.withSnapshot(() => watch.beforeRead())
  let runs = 0
  const value = watch.withSnapshot(() => {
    runs++
    write(1)
    watch.beforeRead()
    return read()
  })
  // The commit came after the snapshot began.
  assert.deepEqual([value, runs], [0, 1])
  assert.equal(opened(), true)
  assert.equal(opened(), false)
})

for (const mainThread of [false, true]) {
  test(`a transaction that SQLite has ended after an error is not ended again${mainThread ? ' in the main thread' : ''}`, async (t) => {
    const { db, watch, write, read } = openBoth(t, { mainThread })
    const failing = () =>
      watch.withSnapshot(() => {
        watch.beforeRead()
        db.exec('ROLLBACK') // as SQLite does after an I/O error
        throw new Error('disk I/O error')
      })
    assert.throws(failing, /disk I\/O error/)
    write(3)
    const seen = watch.withSnapshot(() => {
      watch.beforeRead()
      assert.equal(db.inTransaction, true)
      return read()
    })
    assert.equal(seen, 3)
    await new Promise(setImmediate)
    assert.equal(db.inTransaction, false)
  })
}
