import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { auditState } from '../../../src/audit/state.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { EncodedBlock, ReplicationUnit } from '../../../src/replication/codec/types.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading, packagePath } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { historyTables } from '../../../src/store/state/historySql.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import type { ChainHead } from '../../../src/sync/head/chainHead.js'
import { importFiles } from '../../../src/sync/import/importFiles.js'
import { fixtureGenesis } from '../../support/chains/fixture.js'
import { copyDatabase } from '../../support/chains/fixtureDatabase.js'
import { checkDatabase } from '../../support/compare/checkDatabase.js'
import { compareRows } from '../../support/compare/compareChains.js'
import { encodeStored, openApplier, positioned, settleTrie, unitOf } from '../../support/nats/replicated.js'
import { temporaryDirectory } from '../../support/temporary.js'

const CHAIN_FILE = packagePath('fixtures/chain/chain.rlp')
const source = { genesis: fixtureGenesis() }
const writerDatadir = temporaryDirectory({ after })
let shared: Promise<EncodedBlock[]> | undefined

/** The blocks of the bundled chain as a writer gives them. */
function writersBlocks(): Promise<EncodedBlock[]> {
  const paths = [CHAIN_FILE]
  const options = { datadir: writerDatadir, paths, chain: source, stateMode: 'execute' as const }
  shared ??= importFiles({ ...options, log: silentLogger, showProgress: false }).then(() => {
    const db = openForReading(writerDatadir)
    const head = db.prepare<[], number>('SELECT max(number) FROM blocks').pluck().get()!
    const blocks = encodeStored(db, 1, head)
    db.close()
    return blocks
  })
  return shared
}

async function openReplica(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void (db.open && db.close()))
  const opened = await openApplier(db, source)
  let sequence = 1
  const apply = async (units: ReplicationUnit[], isBehind = false) => {
    for (const each of positioned(units, sequence)) await opened.apply(each, { isBehind })
    sequence += units.length
    opened.applier.commit()
  }
  return { datadir, db, ...opened, apply }
}

const single = (blocks: readonly EncodedBlock[]) => blocks.map((block) => unitOf([block]))

function countRecent(db: Database): number[] {
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!
  return (['account', 'storage'] as const).map((kind) =>
    historyTables(kind)
      .slice(0, -1)
      .reduce((sum, table) => sum + count(table), 0),
  )
}

/** A pass over the tables of the tip, and one over each of the next ones. */
function moveAll(head: ChainHead): void {
  for (let passes = 0; passes < 3; passes++) while (head.moveRecentState());
}

/** A database of the whole chain as a replica leaves it that was killed. */
async function openStaged(t: TestContext) {
  const blocks = await writersBlocks()
  const replica = await openReplica(t)
  await replica.apply(single(blocks))
  await settleTrie(replica.applier)
  return replica
}

test('rows of blocks at the tip stay in the small tables until they are moved, some at a time', async (t) => {
  const blocks = await writersBlocks()
  const { datadir, db, apply, applier, chain } = await openReplica(t)
  await apply(single(blocks.slice(0, 8)))
  assert.ok(countRecent(db).every((count) => count > 0))
  await apply(single(blocks.slice(8)))
  await settleTrie(applier)
  const count = () => db.prepare<[], number>('SELECT count(*) FROM account_tip').pluck().get()!
  const before = count()
  assert.equal(chain.head.moveRecentState(), true)
  assert.ok(count() < before)
  moveAll(chain.head)
  assert.equal(chain.head.moveRecentState(), false)
  assert.deepEqual(countRecent(db), [0, 0])
  db.close()
  compareRows(datadir, writerDatadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writerDatadir))
})

test('a database with rows in the small tables is audited and compared as any other', async (t) => {
  const { datadir, db } = await openStaged(t)
  assert.ok(countRecent(db).every((count) => count > 0))
  const writer = openForReading(writerDatadir)
  t.after(() => void writer.close())
  assert.deepEqual(auditState(db), auditState(writer))
  db.close()
  compareRows(datadir, writerDatadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writerDatadir))
})

test('an audit finds a recent row that is not above the history, and one of another value', async (t) => {
  const { db } = await openStaged(t)
  const audit = () => auditState(db)
  const spoil = (sql: string, fault: RegExp) => {
    db.exec('BEGIN')
    db.exec(sql)
    assert.throws(audit, fault)
    db.exec('ROLLBACK')
  }
  const newest = `FROM account_tip WHERE (address_id, block_number) = (SELECT address_id, max(block_number)
    FROM account_tip GROUP BY address_id HAVING count(*) > 1 LIMIT 1)`
  for (const older of ['account_recent', 'account_older', 'account_history']) {
    spoil(
      `INSERT INTO ${older} SELECT * ${newest}; DELETE ${newest}`,
      new RegExp(`account_tip.*expected above that of every row of its key in ${older}`),
    )
  }
  const last = db.prepare<[], number>('SELECT max(block_number) FROM account_tip').pluck().get()!
  spoil(`UPDATE account_tip SET balance = 1 WHERE block_number = ${last}`, new RegExp(`block ${last}\\b`))
  assert.ok(audit().rows > 0)
})

test('a replica that is behind moves all rows to the history before it writes there', async (t) => {
  const blocks = await writersBlocks()
  const { datadir, db, apply, applier } = await openReplica(t)
  await apply(single(blocks.slice(0, 20)))
  assert.ok(countRecent(db).every((count) => count > 0))
  await apply(single(blocks.slice(20, 40)), true)
  assert.deepEqual(countRecent(db), [0, 0])
  await apply(single(blocks.slice(40)))
  await settleTrie(applier)
  db.close()
  compareRows(datadir, writerDatadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writerDatadir))
})

test('a reorg at the tip removes rows of both kinds of tables', async (t) => {
  const blocks = await writersBlocks()
  const { datadir, db, apply, applier, chain } = await openReplica(t)
  await apply(single(blocks.slice(0, 30)))
  chain.head.moveRecentState()
  for (const number of [25, 12, 3]) {
    const ancestor = { number, hash: blocks[number - 1].hash }
    chain.head.moveRecentState()
    await apply([unitOf([], ancestor)])
    assert.equal(chain.reader.head(), number)
    await apply(single(blocks.slice(number, number + 9)))
  }
  await apply(single(blocks.slice(12)))
  await settleTrie(applier)
  db.close()
  compareRows(datadir, writerDatadir, 'replica')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writerDatadir))
})

test('an executing writer opens the database with its recent rows, and moves them later', async (t) => {
  const { datadir, db } = await openStaged(t)
  const before = countRecent(db)
  db.close()
  const own = openForWriting(datadir)
  const { head } = await openWritableChain(own, undefined, undefined)
  assert.deepEqual(countRecent(own), before)
  moveAll(head)
  assert.deepEqual(countRecent(own), [0, 0])
  own.close()
  compareRows(datadir, writerDatadir, 'replica')
})

test('an import on top of a replica moves its rows first', async (t) => {
  const blocks = await writersBlocks()
  const { datadir, db, apply, applier } = await openReplica(t)
  await apply(single(blocks.slice(0, 30)))
  await settleTrie(applier)
  db.close()
  await importFiles({ datadir, paths: [CHAIN_FILE], chain: source, log: silentLogger, showProgress: false })
  const reading = openForReading(datadir)
  assert.deepEqual(countRecent(reading), [0, 0])
  assert.ok(auditState(reading).rows > 0)
  reading.close()
  compareRows(datadir, writerDatadir, 'import')
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writerDatadir))
})

test('a copy of a database with recent rows continues as a replica', async (t) => {
  const blocks = await writersBlocks()
  const { datadir, db, apply } = await openReplica(t)
  await apply(single(blocks.slice(0, 30)))
  db.close()
  const copy = copyDatabase(t, datadir)
  const own = openForWriting(copy)
  t.after(() => void (own.open && own.close()))
  const again = await openApplier(own, source)
  for (const each of positioned(single(blocks.slice(30)), 31)) await again.apply(each)
  await settleTrie(again.applier)
  own.close()
  compareRows(copy, writerDatadir, 'copy')
  assert.deepEqual(checkDatabase(copy), checkDatabase(writerDatadir))
})
