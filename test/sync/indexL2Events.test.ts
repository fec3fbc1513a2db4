import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { auditL2 } from '../../src/audit/l2.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { hasNotIndexedEvents, indexL2Events } from '../../src/sync/indexL2Events.js'
import { runCairnOk } from '../support/cairn.js'
import { UNCHECKED } from '../support/chains/l2Blocks.js'
import { makeEventChain, rawOf } from '../support/chains/l2EventChain.js'
import { leaveEventsAsBefore, openStarknet } from '../support/upstream/l2Rpc.js'

const tables = (db: Database) => ({
  events: db.prepare('SELECT * FROM l2_events ORDER BY number').all(),
  terms: db.prepare('SELECT * FROM l2_event_terms ORDER BY term, number').all(),
})

test('reindex indexes the events that an older version left in the recordings, and resumes where it stopped', async (t) => {
  const database = openStarknet(t)
  const { db, writer } = database
  for (const block of makeEventChain(70, 3)) writer.importBlock(block, UNCHECKED, rawOf(block))
  const expected = tables(db)
  leaveEventsAsBefore(db, 60)
  assert.ok(tables(db).terms.length < expected.terms.length)
  const stop = new AbortController()
  const progress = { update: () => stop.abort(), finish() {} }
  const part = await indexL2Events(db, { progress, signal: stop.signal })
  assert.ok(part.interrupted && part.indexed > 0 && part.indexed < 60)
  database.close()

  const datadir = dirname(db.name)
  const stdout = await runCairnOk(['reindex', '--datadir', datadir])
  assert.match(stdout, new RegExp(`^layer-2 events: ${60 - part.indexed} blocks indexed$`, 'm'))
  const after = openForReading(datadir)
  t.after(() => after.close())
  assert.deepEqual(tables(after), expected)
  assert.equal(hasNotIndexedEvents(after), false)
  assert.equal(auditL2(after).blocks, 70)
})
