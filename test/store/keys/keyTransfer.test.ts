import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiKeyReader, createApiKeyTable } from '../../../src/store/keys/apiKeys.js'
import { exportKeys, importKeys } from '../../../src/store/keys/keyTransfer.js'
import { temporaryConnections } from '../../support/temporaryConnections.js'

test('keys go to another database with their limits, and without themselves', (t) => {
  const [from, to] = [temporaryConnections(t), temporaryConnections(t)]
  const keys = createApiKeyTable(from.writing)
  const own = createApiKeyTable(to.writing).create('own')
  const plain = keys.create('plain')
  const limited = keys.create('limited', { rateRps: 5, maxConcurrent: 2, methods: ['eth_*', '!eth_getLogs'] })
  const revoked = keys.create('revoked')
  keys.revoke(revoked.id)
  const exported = exportKeys(from.writing)
  for (const { key } of [plain, limited, revoked]) assert.ok(!JSON.stringify(exported).includes(key))
  const reader = createApiKeyReader(to.reading)
  assert.equal(reader.find(plain.key), undefined)
  assert.deepEqual(importKeys(to.writing, exported), { added: 3, changed: 0, unchanged: 0 })
  assert.equal(reader.find(plain.key)?.name, 'plain')
  assert.deepEqual(reader.find(limited.key)?.limits, {
    rateRps: 5,
    maxConcurrent: 2,
    methods: ['eth_*', '!eth_getLogs'],
  })
  assert.equal(reader.find(revoked.key), undefined)
  assert.equal(reader.find(own.key)?.name, 'own')
  assert.deepEqual(exportKeys(to.writing).slice(1), exported)
  assert.deepEqual(importKeys(to.writing, exported), { added: 0, changed: 0, unchanged: 3 })
})

test('a repeated import brings limits, and revokes; it gives no revoked key back', (t) => {
  const [from, to] = [temporaryConnections(t), temporaryConnections(t)]
  const [keys, others] = [createApiKeyTable(from.writing), createApiKeyTable(to.writing)]
  const [a, b, c] = ['a', 'b', 'c'].map((name) => keys.create(name, { rateRps: 5 }))
  importKeys(to.writing, exportKeys(from.writing))
  keys.limit(a.id, { rateRps: null, maxConcurrent: 3 })
  keys.revoke(b.id)
  others.revoke(others.list().find(({ name }) => name === 'c')!.id)
  assert.deepEqual(importKeys(to.writing, exportKeys(from.writing)), { added: 0, changed: 2, unchanged: 1 })
  const reader = createApiKeyReader(to.reading)
  assert.deepEqual(reader.find(a.key)?.limits, { maxConcurrent: 3 })
  assert.equal(reader.find(b.key), undefined)
  assert.equal(reader.find(c.key), undefined)
})
