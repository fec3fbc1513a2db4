import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { noProgress } from '../../src/lib/progress.js'
import { readEventViews } from '../../src/sql/eventViews.js'
import { createAddedAbiTable } from '../../src/store/addedAbis.js'
import type { Database } from '../../src/store/database.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openForQueries } from '../../src/store/sql/queryDatabase.js'
import { fillTraces } from '../../src/sync/fillTraces.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
const MIXED = 'Ab5801a7D398351b8bE11C439e05C5B3259aeC9B'

before(async () => {
  await importFixture(datadir)
  const db = openForWriting(datadir)
  await fillTraces(db, { progress: noProgress })
  const address = (name: string, indexed = false) => ({ name, type: 'address', indexed })
  const events = [
    { name: 'Transfer', inputs: [address('from', true), address('to', true), { name: 'value', type: 'uint256' }] },
    {
      name: 'Many',
      inputs: [
        { name: 'all', type: 'address[]' },
        { name: 'text', type: 'string' },
      ],
    },
    {
      name: 'Pairs',
      inputs: [
        { name: 'pair', type: 'tuple', components: [address('a'), { name: 'text', type: 'string' }] },
        { name: 'plain', type: 'tuple[1]', components: [address(''), { name: '', type: 'bytes20' }] },
      ],
    },
  ]
  const json = JSON.stringify(events.map((event) => ({ type: 'event', ...event })))
  createAddedAbiTable(db).add({ name: 'mixed', address: undefined, json })
  db.close()
})

const open = () => openForQueries(datadir, readEventViews)

/** Addresses with capitals in the cells of a view. */
function capitals(db: Database, view: string): string[] {
  const rows = db.prepare<[], unknown[]>(`SELECT * FROM "${view}" LIMIT 2000`).raw().all()
  return rows.flat().filter((cell): cell is string => typeof cell === 'string' && /0x\w*[A-F]/.test(cell))
}

test('addresses are in lower case in every view', (t) => {
  const db = open()
  t.after(() => db.close())
  const views = db
    .prepare<[], string>(
      "SELECT name FROM (SELECT * FROM sqlite_schema UNION SELECT * FROM sqlite_temp_schema) WHERE type = 'view'",
    )
    .pluck()
    .all()
  assert.ok(views.includes('v_event_mixed_transfer'))
  assert.deepEqual(
    views.filter((view) => capitals(db, view).length > 0),
    [],
  )
})

test('a join of transfers with another view has the same rows in any SQLite shell', (t) => {
  const own = open()
  const plain = new SqliteDatabase(join(datadir, DATABASE_FILE), { readonly: true })
  t.after(() => own.close())
  t.after(() => plain.close())
  const joined = (transfers: string) =>
    `SELECT count(*) FROM ${transfers} e JOIN v_transactions t ON t.hash = e.transaction_hash AND t."to" = e.address AND t."from" = e."from"`
  const counts = [
    plain.prepare(joined('v_erc20_transfers')).pluck().get(),
    own.prepare(joined('v_erc20_transfers')).pluck().get(),
    own.prepare(joined('v_event_mixed_transfer')).pluck().get(),
  ]
  assert.ok(Number(counts[0]) > 0)
  assert.deepEqual(counts, [counts[0], counts[0], counts[0]])
})

test('addresses in arrays and tuples are in lower case, texts and bytes as they are', (t) => {
  const db = open()
  t.after(() => db.close())
  const views = new Map(readEventViews(db).map((view) => [view.name, view]))
  const word = (hex: string) => hex.padStart(64, '0')
  const text = `${word('4')}${Buffer.from('0xAB').toString('hex').padEnd(64, '0')}`
  const decode = (name: string, words: string) => {
    const view = views.get(name)!
    return view.decode({ address: new Uint8Array(20), topics: [view.topic0!], data: Buffer.from(words, 'hex') })
  }
  const lower = `0x${MIXED.toLowerCase()}`
  const many = [word('40'), word('80'), word('1'), word(MIXED), text].join('')
  assert.deepEqual(decode('v_event_mixed_many', many), [JSON.stringify([lower]), '0xAB'])
  const pairs = [word('60'), word(MIXED), MIXED.padEnd(64, '0'), word(MIXED), word('40'), text].join('')
  const expected = [JSON.stringify({ a: lower, text: '0xAB' }), JSON.stringify([[lower, lower]])]
  assert.deepEqual(decode('v_event_mixed_pairs', pairs), expected)
})
