import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDirectoryStore } from '../../../src/lib/objects/directoryStore.js'
import { ObjectStoreFailed, ObjectTooLarge } from '../../../src/lib/objects/errors.js'
import { readObject } from '../../../src/lib/objects/readObject.js'
import { testObjectStore } from '../../support/objectStoreTests.js'
import { temporaryDirectory } from '../../support/temporary.js'

testObjectStore('directory', (t) => createDirectoryStore(join(temporaryDirectory(t), 'made', 'when', 'needed')))

test('a failed put leaves no file, and temporary files of a killed process are not listed', async (t) => {
  const directory = temporaryDirectory(t)
  const store = createDirectoryStore(directory)
  writeFileSync(join(directory, 'x.123.abcdef01.tmp'), 'half')
  mkdirSync(join(directory, 'folder'))
  await assert.rejects(store.put('folder', Buffer.from('x')), (error: ObjectStoreFailed) => {
    assert.ok(error instanceof ObjectStoreFailed)
    assert.match(error.message, /^put .*folder: /)
    assert.equal(error.code, 'EISDIR')
    return true
  })
  assert.deepEqual(readdirSync(directory), ['folder', 'x.123.abcdef01.tmp'])
  for await (const { key } of store.list('')) assert.fail(key)
})

test('a small object is read up to its limit', async (t) => {
  const store = createDirectoryStore(temporaryDirectory(t))
  await store.put('x', Buffer.alloc(1001))
  await assert.rejects(readObject(store, 'x', { maxBytes: 1000 }), ObjectTooLarge)
  assert.equal((await readObject(store, 'x', { maxBytes: 1001 }))!.content.length, 1001)
})
