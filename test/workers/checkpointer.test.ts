import assert from 'node:assert/strict'
import { linkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { Checkpointer, CheckpointFailed } from '../../src/workers/checkpointer.js'
import { temporaryDirectory } from '../support/temporary.js'

/** A database in WAL mode whose own checkpoints are off, and a commit of about `pages` pages. */
function openLogged(directory: string) {
  const db = new SqliteDatabase(join(directory, DATABASE_FILE))
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 0')
  db.exec('CREATE TABLE blobs (data BLOB)')
  const insert = db.prepare('INSERT INTO blobs VALUES (zeroblob(?))')
  return { db, commit: (pages: number) => void insert.run(pages * 4096) }
}

test('what is committed is in the database file when the writer has waited', async (t) => {
  const directory = temporaryDirectory(t)
  const { db, commit } = openLogged(directory)
  const checkpointer = new Checkpointer(directory, { maxLogPages: 50 })
  commit(200)
  await checkpointer.afterCommit()
  for (let i = 0; i < 200; i++) {
    commit(20)
    await checkpointer.afterCommit()
    await new Promise(setImmediate) // an import lets messages in, too
  }
  const path = join(directory, DATABASE_FILE)
  const logBytes = statSync(`${path}-wal`).size
  // 4,200 pages went through the log: had it not restarted, it would have 17 MB.
  assert.ok(logBytes < 600 * 4096, `${logBytes}`)
  assert.ok(statSync(path).size > 4_000 * 4096)
  await checkpointer.close()
  assert.equal(db.prepare('SELECT count(*) FROM blobs').pluck().get(), 201)
  db.close()
})

test('the log is bounded beside readers that follow one another without a gap', { timeout: 60_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const { db, commit } = openLogged(directory)
  const path = join(directory, DATABASE_FILE)
  const checkpointer = new Checkpointer(directory, { maxLogPages: 400 })
  const [first, second] = [0, 1].map(() => new SqliteDatabase(path))
  const read = (reader: SqliteDatabase.Database) => {
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM blobs').get()
  }
  read(first)
  let [current, next] = [first, second]
  // Each reads for longer than a checkpoint takes; one is always there.
  const rotation = setInterval(() => {
    read(next)
    current.exec('COMMIT')
    ;[current, next] = [next, current]
  }, 20)
  for (let i = 0; i < 200; i++) {
    commit(20)
    await checkpointer.afterCommit()
  }
  clearInterval(rotation)
  const logBytes = statSync(`${path}-wal`).size
  assert.ok(logBytes < 600 * 4120, `${logBytes} bytes of a log that 4,000 pages went through`)
  await checkpointer.close()
  for (const each of [first, second, db]) each.close()
})

test('the file of a log that grew beside one long reader is cut to 64 MiB once the reader ends', async (t) => {
  const directory = temporaryDirectory(t)
  const db = openForWriting(directory)
  db.pragma('wal_autocheckpoint = 0')
  db.exec('CREATE TABLE blobs (data BLOB)')
  const insert = db.prepare('INSERT INTO blobs VALUES (zeroblob(?))')
  const path = join(directory, DATABASE_FILE)
  const logBytes = () => statSync(`${path}-wal`).size
  const checkpointer = new Checkpointer(directory, { maxLogPages: 1_000 })
  t.after(async () => {
    await checkpointer.close()
    db.close()
  })
  const reader = new SqliteDatabase(path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM blobs').get()
  insert.run(72 * 2 ** 20)
  await checkpointer.afterCommit() // in vain: it waits a second for the reader
  insert.run(4096)
  assert.ok(logBytes() > 72 * 2 ** 20, `${logBytes()} bytes beside the reader`)
  reader.exec('COMMIT')
  reader.close()
  insert.run(2_000 * 4096)
  await checkpointer.afterCommit()
  insert.run(4096) // begins at the start of the log
  assert.equal(logBytes(), 64 * 2 ** 20)
})

test('a log below 48 MiB stays as it is', async (t) => {
  const directory = temporaryDirectory(t)
  const { db, commit } = openLogged(directory)
  const checkpointer = new Checkpointer(directory)
  for (let i = 0; i < 20; i++) {
    commit(500)
    assert.equal(checkpointer.afterCommit(), undefined)
  }
  await checkpointer.close()
  const [{ log, checkpointed }] = db.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[]
  assert.ok(log > 10_000 && checkpointed === 0, `${checkpointed} of ${log}`)
  db.close()
})

test('a failed checkpoint is reported to the writer', { timeout: 20_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const { db, commit } = openLogged(directory)
  const checkpointer = new Checkpointer(directory, { maxLogPages: 1_000 })
  commit(20)
  checkpointer.afterCommit()
  // The writer's file is open and stays so; the thread, which starts only now, does not find it.
  rmSync(join(directory, DATABASE_FILE))
  commit(2_000)
  await assert.rejects(async () => checkpointer.afterCommit(), CheckpointFailed)
  await assert.rejects(async () => checkpointer.afterCommit(), CheckpointFailed)
  await checkpointer.close()
  db.close()
})

test('a writer that continues after a failed checkpoint gets the next one', { timeout: 20_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const { db, commit } = openLogged(directory)
  const [path, aside] = [join(directory, DATABASE_FILE), join(directory, 'aside.db')]
  const checkpointer = new Checkpointer(directory, { maxLogPages: 1_000 })
  commit(20)
  checkpointer.afterCommit()
  linkSync(path, aside)
  rmSync(path)
  commit(2_000)
  await assert.rejects(async () => checkpointer.afterCommit(), CheckpointFailed)
  linkSync(aside, path)
  await checkpointer.afterCommit()
  assert.ok(statSync(path).size > 2_000 * 4096)
  await checkpointer.close()
  db.close()
})
