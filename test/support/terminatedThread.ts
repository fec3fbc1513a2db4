import { parentPort, workerData } from 'node:worker_threads'

/* A thread that is terminated: it repeats something that reader threads do in compiled code, until it ends. */

/** What it does. */
export type Work = 'recoveries' | 'statements' | 'errors' | 'openings'

const begin = {
  recoveries: beginRecoveries,
  statements: beginStatements,
  errors: beginErrors,
  openings: beginOpenings,
}[workerData as Work]
const step = await begin()
parentPort!.postMessage('works')
for (let i = 0; ; i++) step(i)

async function beginRecoveries(): Promise<(i: number) => void> {
  const { recoverPublicKey, signHash } = await import('../../src/chain/crypto.js')
  const hash = new Uint8Array(32).fill(7)
  const { r, s, recoveryId } = signHash(hash, new Uint8Array(32).fill(9))
  return () => void recoverPublicKey(hash, recoveryId, r, s)
}

async function beginStatements(): Promise<(i: number) => void> {
  const { default: SqliteDatabase } = await import('better-sqlite3')
  const db = new SqliteDatabase(':memory:')
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB, text TEXT)')
  const insert = db.prepare('INSERT INTO t (bytes, text) VALUES (?, ?)')
  for (let i = 0; i < 100; i++) insert.run(Buffer.alloc(40, i), 'x'.repeat(i % 50))
  const range = db.prepare('SELECT * FROM t WHERE id >= ?')
  const row = db.prepare('SELECT bytes, text FROM t WHERE id = ?')
  const plucked = db.prepare('SELECT bytes FROM t').pluck()
  const raw = db.prepare('SELECT id, bytes, text FROM t').raw()
  return (i) => {
    range.all(i % 100)
    row.get(i % 100)
    plucked.all()
    for (const _ of raw.iterate()) if (i % 7 === 0) break
    db.prepare(`SELECT ${i}`).get()
  }
}

/** Statements that fail while they are compiled and while they run, each with an SqliteError. */
async function beginErrors(): Promise<(i: number) => void> {
  const { default: SqliteDatabase } = await import('better-sqlite3')
  const db = new SqliteDatabase(':memory:')
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)')
  const insert = db.prepare('INSERT INTO t VALUES (1)')
  return (i) => {
    try {
      if (i % 2 === 0) insert.run()
      else db.prepare('SELEC')
    } catch (error) {
      if (!(error instanceof SqliteDatabase.SqliteError)) throw error
      return
    }
    throw new Error('the statement did not fail')
  }
}

/** Databases that are opened and closed, as a reader thread does when it starts. */
async function beginOpenings(): Promise<(i: number) => void> {
  const { default: SqliteDatabase } = await import('better-sqlite3')
  new SqliteDatabase(':memory:').close() // loads the addon
  return () => {
    const db = new SqliteDatabase(':memory:')
    db.pragma('mmap_size = 1048576')
    db.prepare('SELECT 1').get()
    db.close()
  }
}
