import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiKeyReader, createApiKeyTable, openForKeys } from '../../../src/store/keys/apiKeys.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { temporaryConnections } from '../../support/temporaryConnections.js'

test('a key is found until it is revoked by another connection', (t) => {
  const { writing, reading } = temporaryConnections(t)
  const keys = createApiKeyTable(writing)
  const reader = createApiKeyReader(reading)
  assert.equal(reader.hasAny(), false)
  const before = reader.version()
  const first = keys.create('first')
  const second = keys.create('second')
  assert.match(first.key, /^[0-9a-f]{32}$/)
  assert.notEqual(first.key, second.key)
  assert.notEqual(reader.version(), before)
  assert.equal(reader.find(first.key)?.id, first.id)
  assert.equal(keys.revoke(first.id), true)
  assert.equal(keys.revoke(first.id), false)
  assert.equal(reader.find(first.key), undefined)
  assert.equal(reader.live(first.id), undefined)
  assert.equal(reader.find(second.key)?.id, second.id)
  assert.deepEqual([reader.live(second.id)?.name, reader.live(second.id)?.name], ['second', 'second'])
  assert.equal(reader.hasAny(), true)
  const listed = keys.list()
  assert.deepEqual(
    listed.map(({ id, name, revokedAt }) => [id, name, revokedAt !== undefined]),
    [
      [first.id, 'first', true],
      [second.id, 'second', false],
    ],
  )
  keys.revoke(second.id)
  assert.deepEqual([reader.live(second.id), reader.find(second.key)], [undefined, undefined])
  const third = keys.create('third')
  assert.equal(reader.find(third.key)?.id, third.id)
})

test('the database does not hold the key, and what is no key is not found', (t) => {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const { key } = createApiKeyTable(db).create('n')
  const row = JSON.stringify(db.prepare('SELECT name, hex(hash) AS hash FROM api_keys').all())
  assert.ok(!row.toLowerCase().includes(key))
  const reader = createApiKeyReader(db)
  for (const wrong of ['', key.toUpperCase(), `${key}0`, key.slice(1), `0x${key}`, 'g'.repeat(32)]) {
    assert.equal(reader.find(wrong), undefined, wrong)
  }
})

test('a key that could not be shown is not stored', (t) => {
  const { writing, reading } = temporaryConnections(t)
  const keys = createApiKeyTable(writing)
  let shown = ''
  const failing = ({ key }: { key: string }) => {
    shown = key
    throw new Error('the reader is gone')
  }
  assert.throws(() => keys.create('lost', {}, failing), /the reader is gone/)
  assert.match(shown, /^[0-9a-f]{32}$/)
  const reader = createApiKeyReader(reading)
  assert.deepEqual([keys.list(), reader.find(shown)], [[], undefined])
  const { id, key } = keys.create('seen', {}, (created) => assert.equal(created.id, 1))
  assert.equal(reader.find(key)?.id, id)
})

test('keys can be changed while another process holds the lock of the writer', (t) => {
  const datadir = temporaryDirectory(t)
  const importer = openForWriting(datadir)
  const db = openForKeys(datadir)
  t.after(() => {
    db.close()
    importer.close()
  })
  const { id, key } = createApiKeyTable(db).create('during an import')
  assert.equal(createApiKeyReader(importer).find(key)?.id, id)
})
