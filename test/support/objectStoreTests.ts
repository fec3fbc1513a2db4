import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ObjectConflict, ObjectStoreFailed } from '../../src/lib/objects/errors.js'
import type { ObjectStore } from '../../src/lib/objects/objectStore.js'
import { readObject } from '../../src/lib/objects/readObject.js'
import { seededRandom } from './random.js'
import { temporaryDirectory } from './temporary.js'

/** Opens an empty store. */
type OpenStore = (t: TestContext) => ObjectStore | Promise<ObjectStore>

const MAX = { maxBytes: 2 ** 20 }

/** What every object store must do. @param kind for the names of the tests @param skip why they are skipped */
export function testObjectStore(
  kind: string,
  openStore: OpenStore,
  { skip = false }: { skip?: string | false } = {},
): void {
  const check = (name: string, run: (t: TestContext, store: ObjectStore) => Promise<void>) =>
    test(`${kind}: ${name}`, { skip }, async (t) => run(t, await openStore(t)))

  check('gives back what was put, whole and in ranges', async (t, store) => {
    const bytes = seededRandom(3).bytes(300_000)
    const path = join(temporaryDirectory(t), 'file')
    writeFileSync(path, bytes)
    await store.put('a/bytes', bytes)
    await store.put('a/part', { path, from: 1000, length: 100_000 })
    await store.put('a/empty', { path, from: 5, length: 0 })
    assert.deepEqual(await content(store, 'a/bytes'), Buffer.from(bytes))
    assert.deepEqual(await content(store, 'a/part'), Buffer.from(bytes.subarray(1000, 101_000)))
    assert.deepEqual(await content(store, 'a/empty'), Buffer.alloc(0))
    const ranged = await store.get('a/bytes', { range: { from: 299_990, length: 100 } })
    assert.equal(ranged!.bytes, 10)
    assert.deepEqual(Buffer.concat(await ranged!.stream.toArray()), Buffer.from(bytes.subarray(299_990)))
    assert.equal((await store.head('a/bytes'))!.bytes, 300_000)
    await store.put('a/bytes', Buffer.from('other'))
    assert.equal(String(await content(store, 'a/bytes')), 'other')
  })

  check('has nothing where nothing was put, and after delete', async (_t, store) => {
    assert.equal(await store.get('no/thing'), undefined)
    assert.equal(await store.head('no/thing'), undefined)
    await store.delete('no/thing')
    await store.put('thing', Buffer.from('x'))
    await store.delete('thing')
    assert.equal(await store.head('thing'), undefined)
    assert.deepEqual(await keys(store, ''), [])
  })

  check('lists what begins with the prefix, by ascending key', async (_t, store) => {
    const names = ['b', 'a/2', 'a/10', 'a/b/c', 'a-b', 'ab', 'a/b.json', 'a/b-1']
    for (const name of names) await store.put(name, Buffer.from(name))
    assert.deepEqual(await keys(store, ''), names.toSorted())
    assert.deepEqual(await keys(store, 'a/'), ['a/10', 'a/2', 'a/b-1', 'a/b.json', 'a/b/c'])
    assert.deepEqual(await keys(store, 'a/b'), ['a/b-1', 'a/b.json', 'a/b/c'])
    assert.deepEqual(await keys(store, 'c'), [])
    for await (const { key, bytes } of store.list('')) assert.equal(bytes, key.length)
  })

  check('of many that create one object, one succeeds and its object stays', async (_t, store) => {
    const tries = Array.from({ length: 8 }, (_, i) => store.put('one', Buffer.from(`by ${i}`), { condition: 'absent' }))
    const ended = await Promise.allSettled(tries)
    const winners = ended.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
    assert.equal(winners.length, 1)
    for (const each of ended)
      if (each.status === 'rejected') assert.ok(each.reason instanceof ObjectConflict, each.reason)
    assert.equal(String(await content(store, 'one')), `by ${winners[0]}`)
  })

  check('replaces a version only while it is that one', async (_t, store) => {
    await store.put('manifest', Buffer.from('1'))
    const { version } = (await store.head('manifest'))!
    await store.put('manifest', Buffer.from('22'), { condition: { version } })
    const late = store.put('manifest', Buffer.from('3'), { condition: { version } })
    await assert.rejects(late, ObjectConflict)
    await assert.rejects(store.put('none', Buffer.from('3'), { condition: { version } }), ObjectConflict)
    assert.equal(String(await content(store, 'manifest')), '22')
    assert.equal(await store.head('none'), undefined)
  })

  check('refuses bytes of another digest', async (t, store) => {
    const bytes = Buffer.from('what was meant')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const path = join(temporaryDirectory(t), 'file')
    writeFileSync(path, 'what was sent!')
    await store.put('right', bytes, { sha256 })
    await assert.rejects(store.put('wrong', Buffer.from('what was sent!'), { sha256 }), ObjectStoreFailed)
    await assert.rejects(store.put('wrong', { path, from: 0, length: 14 }, { sha256 }), ObjectStoreFailed)
    assert.deepEqual(await keys(store, ''), ['right'])
  })

  check('takes a file, which is gone afterwards', async (_t, store) => {
    const path = store.stagingPath('folder/file.csv')
    await store.put('folder/other', Buffer.from('x'))
    assert.ok(existsSync(dirname(path)))
    writeFileSync(path, 'of a file')
    assert.deepEqual(await keys(store, 'folder/file'), [])
    await store.putFile('folder/file.csv', path)
    assert.equal(existsSync(path), false)
    assert.equal(String(await content(store, 'folder/file.csv')), 'of a file')
    writeFileSync(path, 'too late')
    await assert.rejects(store.putFile('folder/file.csv', path, { condition: 'absent' }), ObjectConflict)
    assert.ok(existsSync(path))
    await store.putFile('folder/file.csv', path)
    assert.equal(String(await content(store, 'folder/file.csv')), 'too late')
  })

  check('ends at the signal', async (_t, store) => {
    await store.put('x', Buffer.from('x'))
    const signal = AbortSignal.abort(new Error('stopped'))
    await assert.rejects(store.put('x', Buffer.from('y'), { signal }), /stopped|aborted/)
    await assert.rejects(async () => {
      for await (const each of store.list('', { signal })) assert.fail(each.key)
    }, /stopped|aborted/)
    assert.equal(String(await content(store, 'x')), 'x')
  })

  check('takes no key that could leave it', async (_t, store) => {
    for (const key of ['', '../x', 'a/../x', '/x', 'a//b', 'a/', '.hidden', 'x.tmp', 'a b', 'é']) {
      await assert.rejects(async () => store.put(key, Buffer.from('x')), /not a key of an object/)
    }
  })
}

async function content(store: ObjectStore, key: string): Promise<Buffer> {
  const found = await readObject(store, key, MAX)
  assert.ok(found, key)
  return found.content
}

async function keys(store: ObjectStore, prefix: string): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list(prefix)) found.push(key)
  return found
}
