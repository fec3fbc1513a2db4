import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { parseHex } from '../../src/lib/hex.js'
import { createDirectoryStore } from '../../src/lib/objects/directoryStore.js'
import type { ObjectStore } from '../../src/lib/objects/objectStore.js'
import { PARTIAL } from '../../src/snapshots/createSnapshot.js'
import {
  DatadirInUse,
  NothingToSnapshot,
  SnapshotDamaged,
  SnapshotExists,
  SnapshotMissing,
  SnapshotRunning,
} from '../../src/snapshots/errors.js'
import { encodeManifest, listSnapshots, manifestKey, parseManifest, partKey } from '../../src/snapshots/manifest.js'
import { pendingKey } from '../../src/snapshots/pending.js'
import { removeOldSnapshots } from '../../src/snapshots/removeSnapshots.js'
import { UNFINISHED } from '../../src/snapshots/restoreSnapshot.js'
import { readCursorSecret } from '../../src/store/cursorSecret.js'
import { holdLock } from '../../src/store/fileLock.js'
import { createApiKeyTable, openForKeys } from '../../src/store/keys/apiKeys.js'
import * as metaModule from '../../src/store/meta.js'
import { createMetaTable, META_KEYS, META_REPLICATION } from '../../src/store/meta.js'
import { DATABASE_FILE, DatabaseOfEarlierBuild, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { writeSeal } from '../../src/store/seals.js'
import { runCairn, runCairnOk } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { restoreFrom, SMALL_PARTS, snapshotOf } from '../support/snapshots.js'
import { temporaryDirectory } from '../support/temporary.js'

const whole = temporaryDirectory({ after })
before(() => importFixture(whole))

const openStore = (t: TestContext) => createDirectoryStore(join(temporaryDirectory(t), 'snapshots'))

async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys
}

test('a restored snapshot is the database, but for keys and the secret of cursors', async (t) => {
  const datadir = copyDatabase(t, whole)
  const withKeys = openForKeys(datadir)
  const table = createApiKeyTable(withKeys)
  const keys = Array.from({ length: 60 }, (_, i) => table.create(`of team ${i}`))
  for (const { id } of keys) table.limit(id, { rateRps: 10 + id, methods: ['eth_*'] }) // rows move within their pages
  const hashes = withKeys.prepare<[], Buffer>('SELECT hash FROM api_keys').pluck().all()
  const secret = Buffer.from(readCursorSecret(withKeys)).toString('hex')
  withKeys.close()
  const store = openStore(t)
  const { manifest, uploaded, kept, resumed } = await snapshotOf({ datadir, store })
  assert.deepEqual([uploaded, kept, resumed], [manifest.bytes, 0, false])
  assert.equal(manifest.head.number, HEAD)
  assert.equal(manifest.parts.length, Math.ceil(manifest.bytes / SMALL_PARTS))
  assert.equal(existsSync(join(datadir, PARTIAL)), false)

  const stored = Buffer.concat(manifest.parts.map(({ sha256 }) => readFileSync(join(store.place, 'parts', sha256))))
  assert.equal(hashes.length, 60)
  for (const hash of hashes) assert.equal(stored.includes(hash), false, 'the hash of a key')
  assert.equal(stored.includes('of team'), false, 'the name of a key')
  assert.equal(stored.includes(secret), false, 'the secret of cursors')

  const restored = temporaryDirectory(t)
  const { downloaded } = await restoreFrom({ store, datadir: restored })
  assert.equal(downloaded, manifest.bytes)
  assert.equal(checkDatabase(restored)?.number, HEAD)
  await runCairnOk(['verify', '--datadir', restored])
  const db = openForReading(restored)
  t.after(() => db.close())
  assert.deepEqual(createApiKeyTable(db).list(), [])
  assert.equal(readCursorSecret(db).length, 32)
  assert.notEqual(Buffer.from(readCursorSecret(db)).toString('hex'), secret)
  assert.deepEqual(
    readdirSync(restored)
      .filter((name) => !name.startsWith(DATABASE_FILE))
      .sort(),
    ['cairn.lock'],
  )
})

test('the position of a writer is in its snapshot when the copy has the block, that of a replica always', async (t) => {
  const { hash } = (await snapshotOf({ datadir: whole, store: openStore(t) })).manifest.head
  const published = { stream: 'CAIRN_1@2026', sequence: 9, epoch: 4, number: HEAD, hash: parseHex(hash) }
  const position = { stream: 'CAIRN_1@2026', sequence: 9, epoch: 4 }
  const store = openStore(t)
  const of = async (datadir: string, name: string, place: typeof published) =>
    (await snapshotOf({ datadir, store, name, published: place })).manifest.position
  assert.deepEqual(await of(whole, 'writer', published), position)
  assert.equal(await of(whole, 'reorged', { ...published, hash: Buffer.alloc(32, 0xab) }), null)
  assert.equal(await of(whole, 'ahead', { ...published, number: HEAD + 1 }), null)
  const datadir = temporaryDirectory(t)
  await restoreFrom({ store, name: 'writer', datadir })
  const db = openForReading(datadir)
  assert.deepEqual(createMetaTable(db).get(META_REPLICATION), { ...position, head: hash })
  db.close()
  assert.deepEqual(await of(datadir, 'replica', { ...published, sequence: 7 }), position)
  assert.equal((await of(datadir, 'promoted', { ...published, sequence: 11 }))?.sequence, 11)
})

test('a second snapshot of a name is refused, and of one that others finish first, too', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store })
  await assert.rejects(snapshotOf({ datadir: whole, store }), SnapshotExists)
  await assert.rejects(snapshotOf({ datadir: whole, store, name: manifest.name }), SnapshotExists)
  const others = Array.from({ length: 4 }, () => copyDatabase(t, whole))
  const ended = await Promise.allSettled(others.map((datadir) => snapshotOf({ datadir, store, name: 'daily' })))
  assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected', 'rejected'])
  for (const each of ended) {
    if (each.status === 'rejected') assert.ok(each.reason instanceof SnapshotExists, String(each.reason))
    else
      assert.deepEqual(
        (await listSnapshots(store)).find(({ name }) => name === 'daily'),
        each.value.manifest,
      )
  }
  assert.deepEqual(await keysOf(store, 'pending/'), [])
  for (const datadir of others) assert.equal(existsSync(join(datadir, PARTIAL)), false)
})

test('what cannot be a snapshot is said', async (t) => {
  const store = openStore(t)
  const empty = temporaryDirectory(t)
  openForWriting(empty).close()
  await assert.rejects(snapshotOf({ datadir: empty, store }), NothingToSnapshot)
  const lock = holdLock(join(empty, 'snapshot.lock'))
  await assert.rejects(snapshotOf({ datadir: empty, store }), SnapshotRunning)
  lock!.close()
  await assert.rejects(snapshotOf({ datadir: join(empty, 'none'), store }), /no database at/)
  await assert.rejects(restoreFrom({ store, datadir: temporaryDirectory(t) }), SnapshotMissing)
  await assert.rejects(restoreFrom({ store, datadir: temporaryDirectory(t), name: 'x' }), SnapshotMissing)
  await assert.rejects(restoreFrom({ store, datadir: empty }), DatadirInUse)
})

test('a part that is damaged, cut or missing is refused by its name, and no database appears', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store })
  const { sha256 } = manifest.parts[5]
  const path = join(store.place, 'parts', sha256)
  const right = readFileSync(path)
  const flipped = Buffer.from(right)
  flipped[right.length >> 1] ^= 1
  for (const content of [flipped, right.subarray(1), Buffer.concat([right, Buffer.alloc(1)]), undefined]) {
    if (content) writeFileSync(path, content)
    else await store.delete(`parts/${sha256}`)
    const datadir = temporaryDirectory(t)
    await assert.rejects(restoreFrom({ store, datadir }), (error: Error) => {
      assert.ok(error instanceof SnapshotDamaged, String(error))
      assert.ok(error.message.includes(sha256), error.message)
      return true
    })
    assert.equal(existsSync(join(datadir, DATABASE_FILE)), false)
    if (content) continue
    // What was restored is not downloaded again.
    writeFileSync(path, right)
    const { downloaded } = await restoreFrom({ store, datadir })
    assert.ok(downloaded < manifest.bytes, String(downloaded))
    assert.equal(checkDatabase(datadir)?.number, HEAD)
  }
})

test('a database that is not the one of the manifest is refused', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store })
  const forged = { ...manifest, head: { ...manifest.head, hash: `0x${'12'.repeat(32)}` } }
  writeFileSync(join(store.place, manifestKey(manifest.name)), JSON.stringify(forged))
  const datadir = temporaryDirectory(t)
  await assert.rejects(
    restoreFrom({ store, datadir }),
    /its database has block 74 0x75913af1.*its manifest block 74 0x1212/,
  )
  assert.equal(existsSync(join(datadir, DATABASE_FILE)), false)
})

test('a manifest is read field by field', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store })
  const parse = (change: object) => parseManifest(JSON.stringify({ ...manifest, ...change }), 'm')
  assert.deepEqual(parse({}), manifest)
  const wrong: [object, RegExp][] = [
    [{ format: 2 }, /format 2, this version reads 1/],
    [{ name: '../x' }, /name is/],
    [{ bytes: 1 }, /the parts have \d+ bytes, the database 1/],
    [{ parts: [] }, /parts is \[\]/],
    [{ parts: manifest.parts.toReversed() }, /part 1 has \d+ bytes, partBytes is 65536/],
    [{ parts: [{ sha256: '../../etc/passwd', bytes: 1 }] }, /parts is/],
    [{ head: { number: -1, hash: manifest.head.hash } }, /head is/],
    [{ position: { stream: 'x' } }, /position is/],
    [{ creator: undefined }, /creator is/],
  ]
  for (const [change, message] of wrong) assert.throws(() => parse(change), message)
  for (const text of ['', 'null', '[]', '{"format":1}', '7']) {
    assert.throws(() => parseManifest(text, 'm'), SnapshotDamaged)
  }
})

test('an interrupted snapshot resumes with its copy, though the chain has changed', async (t) => {
  const datadir = copyDatabase(t, whole)
  const store = openStore(t)
  const stop = new AbortController()
  const puts: string[] = []
  const slow: ObjectStore = {
    ...store,
    put: async (key, body, options) => {
      puts.push(key)
      if (puts.length === 6) stop.abort(new Error('stopped'))
      return store.put(key, body, options)
    },
  }
  await assert.rejects(snapshotOf({ datadir, store: slow, signal: stop.signal }), /stopped/)
  assert.ok(existsSync(join(datadir, PARTIAL, 'copy.db')))
  const stored = (await keysOf(store, 'parts/')).length
  assert.ok(stored > 0 && stored < 14, String(stored))
  assert.deepEqual(await listSnapshots(store), [])
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '70'])
  const { manifest, resumed, kept } = await snapshotOf({ datadir, store })
  assert.equal(resumed, true)
  assert.equal(manifest.head.number, HEAD)
  assert.ok(kept >= (stored - 1) * SMALL_PARTS, String(kept))
  assert.deepEqual(await keysOf(store, 'pending/'), [])
  const next = await snapshotOf({ datadir, store })
  assert.deepEqual([next.resumed, next.manifest.head.number], [false, 70])
})

test('old snapshots of the chain are removed, with the parts that no snapshot needs', async (t) => {
  const datadir = copyDatabase(t, whole)
  const store = openStore(t)
  const made = [await snapshotOf({ datadir, store, name: 'a' })]
  for (const [name, to] of [
    ['b', 60],
    ['c', 40],
  ] as const) {
    await runCairnOk(['rewind', '--datadir', datadir, '--to', String(to)])
    made.push(await snapshotOf({ datadir, store, name }))
  }
  const [a, b, c] = made.map(({ manifest }) => manifest)
  // Another chain's in the same place, and one under way.
  const other = { ...b, name: 'other', chainId: '7', parts: b.parts.slice(0, 1), bytes: SMALL_PARTS }
  await store.put(manifestKey('other'), Buffer.from(JSON.stringify(other)))
  const pending = { ...c, createdAt: new Date().toISOString(), parts: c.parts.slice(-1), bytes: c.parts.at(-1)!.bytes }
  await store.put(pendingKey(pending), Buffer.from(JSON.stringify(pending)))
  assert.deepEqual(
    (await listSnapshots(store)).map(({ name }) => name),
    ['a', 'other', 'b', 'c'],
  )
  assert.deepEqual(await removeOldSnapshots(store, { chain: a, keep: 1 }), ['b', 'c'])
  const wanted = new Set([...a.parts, ...other.parts, ...pending.parts].map(({ sha256 }) => `parts/${sha256}`))
  assert.deepEqual(await keysOf(store, 'parts/'), [...wanted].sort())
  const restored = temporaryDirectory(t)
  assert.equal((await restoreFrom({ store, datadir: restored, name: 'a' })).manifest.head.number, HEAD)

  await store.put(manifestKey('newer'), Buffer.from('{"format":2}'))
  await assert.rejects(removeOldSnapshots(store, { chain: a, keep: 1 }), SnapshotDamaged)
  assert.equal((await keysOf(store, 'parts/')).length, wanted.size)
})

test('a restore that was interrupted resumes with its snapshot and keeps whole parts only', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store, name: 'first' })
  const stop = new AbortController()
  let gets = 0
  const slow: ObjectStore = {
    ...store,
    get: async (key, options) => {
      if (key.startsWith('parts/') && ++gets === 8) stop.abort(new Error('stopped'))
      return store.get(key, options)
    },
  }
  const datadir = temporaryDirectory(t)
  await assert.rejects(restoreFrom({ store: slow, datadir, signal: stop.signal }), /stopped/)
  const copy = join(datadir, UNFINISHED, 'copy.db')
  const bytes = readFileSync(copy)
  bytes[100] ^= 1
  writeFileSync(copy, bytes)
  const behind = copyDatabase(t, whole)
  const { downloaded, manifest: restored } = await restoreFrom({ store, datadir })
  assert.equal(restored.creator, manifest.creator)
  assert.ok(downloaded >= SMALL_PARTS && downloaded < manifest.bytes, String(downloaded))
  assert.deepEqual(checkDatabase(datadir), checkDatabase(behind))
})

/** Makes a snapshot of the whole database after `sql` has changed the copy that a dishonest maker publishes. */
async function forgedSnapshot(t: TestContext, sql: string): Promise<ObjectStore> {
  const datadir = copyDatabase(t, whole)
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir, store })
  const forged = new SqliteDatabase(join(datadir, DATABASE_FILE))
  forged.unsafeMode(true)
  forged.exec(sql)
  forged.pragma('wal_checkpoint(TRUNCATE)')
  forged.pragma('journal_mode = DELETE')
  forged.close()
  const bytes = readFileSync(join(datadir, DATABASE_FILE))
  const parts: { sha256: string; bytes: number }[] = []
  for (let from = 0; from < bytes.length; from += SMALL_PARTS) {
    const part = bytes.subarray(from, from + SMALL_PARTS)
    const sha256 = createHash('sha256').update(part).digest('hex')
    await store.put(partKey(sha256), part)
    parts.push({ sha256, bytes: part.length })
  }
  await store.put(manifestKey(manifest.name), encodeManifest({ ...manifest, bytes: bytes.length, parts }))
  return store
}

const FORGER = `INSERT INTO api_keys (name, hash, created_at) VALUES ('forger', x'${'ab'.repeat(32)}', 1)`

test('a restored snapshot has no key, trigger, table, index, view, statistics or setting of its maker', async (t) => {
  const store = await forgedSnapshot(
    t,
    `${FORGER};
     CREATE TABLE spoils (x); CREATE INDEX spoils_x ON spoils (x); INSERT INTO spoils VALUES (1); ANALYZE spoils;
     CREATE VIEW v_spoils AS SELECT * FROM spoils;
     CREATE VIRTUAL TABLE words USING fts5(word);
     CREATE TRIGGER api_keys AFTER INSERT ON api_keys BEGIN INSERT INTO api_keys (name, hash, created_at) VALUES ('again', x'cd', 1); END;
     CREATE TRIGGER keeps BEFORE DELETE ON api_keys BEGIN SELECT RAISE(IGNORE); END;
     INSERT INTO meta VALUES ('rpc_limits', '{}')`,
  )
  const datadir = temporaryDirectory(t)
  const { leftOut } = await restoreFrom({ store, datadir })
  for (const named of [
    'trigger api_keys',
    'trigger keeps',
    'table spoils',
    'index spoils_x',
    'view v_spoils',
    'table words',
    'table sqlite_stat1',
    'setting rpc_limits',
    '1 API key',
  ]) {
    assert.ok(leftOut.includes(named), `${named} in ${leftOut}`)
  }
  assert.match(await runCairnOk(['verify', '--file', '--datadir', datadir]), /schema, facts and keys are right\n$/)
  const db = openForKeys(datadir)
  t.after(() => db.close())
  createApiKeyTable(db).create('own')
  assert.deepEqual(
    createApiKeyTable(db)
      .list()
      .map(({ name }) => name),
    ['own'],
  )
  assert.equal(createMetaTable(db).get('rpc_limits'), undefined)
})

test('a snapshot whose own tables are not those of the migrations is refused', async (t) => {
  for (const [sql, object] of [
    ['DROP VIEW v_blocks; CREATE VIEW v_blocks AS SELECT 1', /view v_blocks: expected CREATE VIEW/],
    ['DROP TABLE abis', /table abis: it is missing/],
    ["UPDATE __drizzle_migrations SET hash = 'x' WHERE rowid = 1", /it names other migrations/],
    [
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE abis (oops' WHERE name = 'abis'",
      /snapshot .*: malformed database schema/,
    ],
  ] as const) {
    const store = await forgedSnapshot(t, sql)
    const datadir = temporaryDirectory(t)
    await assert.rejects(restoreFrom({ store, datadir }), (error: Error) => {
      assert.ok(error instanceof SnapshotDamaged, String(error))
      assert.match(error.message, object)
      return true
    })
    assert.equal(existsSync(join(datadir, DATABASE_FILE)), false)
  }
})

test('a snapshot of an earlier build is refused by its name', async (t) => {
  const store = await forgedSnapshot(t, 'UPDATE __drizzle_migrations SET created_at = created_at - 1')
  const datadir = temporaryDirectory(t)
  await assert.rejects(restoreFrom({ store, datadir }), (error: Error) => {
    assert.ok(error instanceof DatabaseOfEarlierBuild, String(error))
    assert.match(error.message, /: snapshot \S+ was made by an earlier build/)
    return true
  })
  assert.deepEqual(
    readdirSync(datadir).filter((name) => name.startsWith('cairn.')),
    ['cairn.lock'],
  )
})

test('objects of an analyst are in no copy of the database', async (t) => {
  const datadir = copyDatabase(t, whole)
  const db = openForWriting(datadir)
  db.exec("CREATE TABLE notes (x); INSERT INTO notes VALUES ('private-note')")
  db.exec('CREATE INDEX by_gas ON receipts (gas_used)')
  db.close()
  assert.match(
    await runCairnOk(['verify', '--file', '--datadir', datadir]),
    /; not of Cairn: table notes, index by_gas\n$/,
  )
  const backup = join(temporaryDirectory(t), 'backup.db')
  assert.match(
    await runCairnOk(['backup', '--datadir', datadir, backup]),
    /\nleft out of it: index by_gas, table notes\n$/,
  )
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir, store })
  const parts = manifest.parts.map(({ sha256 }) => readFileSync(join(store.place, 'parts', sha256)))
  for (const copy of [Buffer.concat(parts), readFileSync(backup)]) assert.equal(copy.includes('private-note'), false)
})

test('a backup with a trigger is restored without it, and verify names the trigger in a database', async (t) => {
  const datadir = copyDatabase(t, whole)
  const db = openForWriting(datadir)
  db.exec('CREATE TRIGGER spy AFTER INSERT ON blocks BEGIN DELETE FROM logs; END')
  db.exec(FORGER)
  writeSeal(db, 'api_keys')
  db.pragma('journal_mode = DELETE')
  db.close()
  const { code, stderr } = await runCairn(['verify', '--file', '--datadir', datadir])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /sqlite_schema, trigger spy: row: expected none, since no migration makes it, found CREATE TRIGGER/,
  )
  const restored = temporaryDirectory(t)
  const said = await runCairnOk(['restore', '--datadir', restored, join(datadir, DATABASE_FILE)])
  assert.match(said, /, with 1 API key\nleft out of it: trigger spy\n$/)
  await runCairnOk(['verify', '--file', '--datadir', restored])
})

test('every key of meta is one that a snapshot has', () => {
  const keys = Object.entries(metaModule).filter(([name]) => name.startsWith('META_') && name !== 'META_KEYS')
  assert.deepEqual(keys.map(([, key]) => key).sort(), [...META_KEYS].sort())
})

test('a part, a manifest or a backup that is a FIFO, a device or a directory is refused by its name', async (t) => {
  const store = openStore(t)
  const { manifest } = await snapshotOf({ datadir: whole, store })
  const part = join(store.place, 'parts', manifest.parts[3].sha256)
  const replaceBy: { [kind: string]: (path: string) => void } = {
    FIFO: (path) => execFileSync('mkfifo', [path]),
    device: (path) => symlinkSync('/dev/zero', path),
    directory: (path) => mkdirSync(path),
  }
  for (const [kind, make] of Object.entries(replaceBy)) {
    rmSync(part, { recursive: true })
    make(part)
    await assert.rejects(restoreFrom({ store, datadir: temporaryDirectory(t) }), (error: Error) => {
      assert.match(error.message, /parts\/\w{64}.*: it is not a regular file/, kind)
      return true
    })
    const file = join(temporaryDirectory(t), kind)
    make(file)
    const { code, stderr } = await runCairn(['restore', '--datadir', temporaryDirectory(t), file])
    assert.deepEqual([code, /is not a backup of Cairn: it is not a regular file/.test(stderr)], [2, true], stderr)
  }
  const place = join(store.place, manifestKey(manifest.name))
  rmSync(place)
  replaceBy.FIFO(place)
  const named = restoreFrom({ store, datadir: temporaryDirectory(t), name: manifest.name })
  await assert.rejects(named, /manifests\/.*: it is not a regular file/)
})
