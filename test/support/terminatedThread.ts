import { parentPort, workerData } from 'node:worker_threads'

/* A thread that is terminated: it goes on forever with something that reader threads do in compiled code. No statement
 * fails here: better-sqlite3 aborts the process when its thread is terminated while it makes an SqliteError. */

/** What it does. */
export type Work = 'recoveries' | 'statements'

const begin = { recoveries: beginRecoveries, statements: beginStatements }[workerData as Work]
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
