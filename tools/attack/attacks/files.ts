import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { createDirectoryStore } from '../../../src/lib/objects/directoryStore.js'
import { SnapshotDamaged } from '../../../src/snapshots/errors.js'
import { encodeManifest, manifestKey, partKey } from '../../../src/snapshots/manifest.js'
import { DATABASE_FILE, openForReading } from '../../../src/store/open.js'
import { restoreFrom, SMALL_PARTS, snapshotOf } from '../../../test/support/snapshots.js'
import { type Attack, type Attacker, FAULT } from '../attack.js'
import { ask, inParallel, pause, rpcText } from '../sockets.js'

const FORGER = `INSERT INTO api_keys (name, hash, created_at) VALUES ('forger', x'${'ab'.repeat(32)}', 1);`

/** Changes of a database that no import makes. */
const FORGERIES = [
  FORGER,
  `${FORGER} CREATE TRIGGER again AFTER INSERT ON api_keys BEGIN ${FORGER} END;`,
  `${FORGER} CREATE TRIGGER keeps BEFORE DELETE ON api_keys BEGIN SELECT RAISE(IGNORE); END;`,
  'CREATE TABLE spoils (x); CREATE INDEX spoils_x ON spoils (x);',
  'CREATE VIEW v_spoils AS SELECT * FROM api_keys;',
  'DROP VIEW v_blocks; CREATE VIEW v_blocks AS SELECT * FROM api_keys;',
  "INSERT INTO meta VALUES ('rpc_limits', '{}');",
  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE abis (oops' WHERE name = 'abis';",
] as const

/** Snapshots of a forger that an operator restores. */
export const forgedSnapshots: Attack = {
  name: 'forged snapshots',
  what: 'snapshots with API keys, triggers, tables, views and settings of their maker, restored one after another',
  async run(attacker) {
    while (!attacker.signal.aborted) {
      // Removed with the directory, also when this process is killed.
      const folder = mkdtempSync(join(attacker.target.datadir, 'forged-'))
      try {
        await restoreForged(attacker, folder)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  },
}

async function restoreForged({ target, random, count }: Attacker, folder: string): Promise<void> {
  const store = createDirectoryStore(join(folder, 'snapshots'))
  const { manifest } = await snapshotOf({ datadir: target.datadir, store })
  const [forged, restored] = ['forged', 'restored'].map((name) => join(folder, name))
  for (const path of [forged, restored]) mkdirSync(path)
  await restoreFrom({ store, datadir: forged })
  forge(join(forged, DATABASE_FILE), FORGERIES[random.below(FORGERIES.length)])
  const bytes = readFileSync(join(forged, DATABASE_FILE))
  const parts: { sha256: string; bytes: number }[] = []
  for (let from = 0; from < bytes.length; from += SMALL_PARTS) {
    const part = bytes.subarray(from, from + SMALL_PARTS)
    const sha256 = createHash('sha256').update(part).digest('hex')
    await store.put(partKey(sha256), part)
    parts.push({ sha256, bytes: part.length })
  }
  await store.put(manifestKey(manifest.name), encodeManifest({ ...manifest, bytes: bytes.length, parts }))
  try {
    await restoreFrom({ store, datadir: restored })
  } catch (error) {
    return count(error instanceof SnapshotDamaged ? 'refused' : `${FAULT} restoring failed: ${String(error)}`)
  }
  const left = foreignIn(restored)
  count(left.length === 0 ? 'restored without it' : `${FAULT} restored with ${left.join(', ')}`)
}

function forge(path: string, sql: string): void {
  const db = new SqliteDatabase(path)
  db.unsafeMode(true)
  db.exec(sql)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.pragma('journal_mode = DELETE')
  db.close()
}

/** What a forger left in a restored database. */
function foreignIn(datadir: string): string[] {
  const db = openForReading(datadir)
  try {
    const names = db.prepare<[], string>(
      "SELECT type || ' ' || name FROM sqlite_schema WHERE name IN ('again', 'keeps', 'spoils', 'spoils_x', 'v_spoils')",
    )
    const keys = db.prepare<[], string>("SELECT 'key ' || name FROM api_keys")
    const settings = db.prepare<[], string>("SELECT 'setting ' || key FROM meta WHERE key = 'rpc_limits'")
    return [names, keys, settings].flatMap((statement) => statement.pluck().all())
  } finally {
    db.close()
  }
}

/** A disk that is full again and again. */
export const fullDisk: Attack = {
  name: 'full disk',
  what: 'four clients whose usage is counted while the disk of the data directory is full half of the time',
  needsSmallDisk: true,
  async run(attacker) {
    const { signal, target, count } = attacker
    const ballast = join(target.datadir, 'ballast')
    const turns = async () => {
      while (!signal.aborted) {
        fill(ballast)
        count('filled')
        await pause(signal, 700)
        rmSync(ballast, { force: true })
        await pause(signal, 300)
      }
    }
    const calls = inParallel(4, signal, async () => {
      await ask(attacker, rpcText('eth_getBlockByNumber', ['latest', true]))
      await pause(signal, 5)
    })
    await Promise.all([turns(), calls])
  },
}

/** Writes to a file until the disk has no byte left. */
function fill(path: string): void {
  const file = openSync(path, 'a')
  const block = new Uint8Array(4096)
  try {
    for (;;) writeSync(file, block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
