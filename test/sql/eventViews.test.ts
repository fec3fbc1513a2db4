import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEventViews } from '../../src/sql/eventViews.js'
import { createAddedAbiTable } from '../../src/store/addedAbis.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from '../support/temporary.js'

test('the first 1,000 events of added ABIs have views, and all that are built in', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const builtIn = readEventViews(db).map(({ name }) => name)
  const add = (name: string, count: number) => {
    const events = Array.from({ length: count }, (_, i) => ({ type: 'event', name: `e${i}`, inputs: [] }))
    createAddedAbiTable(db).add({ name, address: undefined, json: JSON.stringify(events) })
  }
  add('a', 600)
  add('b', 600)
  const names = readEventViews(db).map(({ name }) => name)
  assert.equal(names.length, 1000 + builtIn.length)
  assert.deepEqual(
    [names[0], names[599], names[600], names[999]],
    ['v_event_a_e0', 'v_event_a_e599', 'v_event_b_e0', 'v_event_b_e399'],
  )
  assert.deepEqual(names.slice(1000), builtIn)
})
