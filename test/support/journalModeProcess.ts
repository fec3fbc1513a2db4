import SqliteDatabase from 'better-sqlite3'

/* `node journalModeProcess.js PATH`: tries to leave WAL mode, which removes the write-ahead log, and prints the mode
   after it, or SQLite's code: SQLITE_BUSY while another process has locks on the database. */

const db = new SqliteDatabase(process.argv[2], { timeout: 0 })
try {
  process.stdout.write(`${db.pragma('journal_mode = DELETE', { simple: true })}`)
} catch (error) {
  process.stdout.write((error as { code: string }).code)
}
db.close()
