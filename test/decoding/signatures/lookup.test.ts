import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toEventHash, toFunctionSelector } from 'viem'
import { createSignatureLookup } from '../../../src/decoding/signatures/lookup.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createSignatureTable, type SortedSignatures } from '../../../src/store/signatures.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const keyOf = (text: string) => Number(toFunctionSelector(text))

function sorted(texts: readonly string[]): SortedSignatures {
  const order = texts.map((text) => ({ key: keyOf(text), text })).sort((a, b) => a.key - b.key)
  return { keys: order.map(({ key }) => key), texts: order.map(({ text }) => text) }
}

test('finds every signature of several sets, and no other, by selector', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const table = createSignatureTable(db)
  const random = seededRandom(3)
  const all = Array.from({ length: 4000 }, (_, i) => `f${i}(${'uint256,'.repeat(random.below(12))}address)`)
  const events = all.slice(0, 500)
  const first = all.filter((_, i) => i % 3 !== 0)
  const second = all.filter((_, i) => i % 2 === 0)
  table.add('first', { function: sorted(first), event: sorted(events) })
  const id = table.add('second', { function: sorted(second), event: sorted([]) })
  const pages = () => db.prepare<[], number>('SELECT count(*) FROM signature_pages').pluck().get()!
  assert.ok(pages() > 10)
  const lookup = createSignatureLookup(table)
  const byKey = new Map<number, string[]>()
  for (const text of new Set([...first, ...second])) byKey.set(keyOf(text), [...(byKey.get(keyOf(text)) ?? []), text])
  for (const [i, text] of all.entries()) {
    const hash = parseHex(toEventHash(text))
    const found = lookup('function', hash.subarray(0, 4))
    assert.deepEqual(new Set(found), new Set(byKey.get(keyOf(text)) ?? []), text)
    assert.equal(new Set(found).size, found.length, text)
    assert.deepEqual(lookup('event', hash.subarray(0, 4)), i < 500 ? [text] : [])
  }
  for (let i = 0; i < 1000; i++) {
    const selector = random.bytes(4)
    assert.deepEqual(lookup('function', selector), byKey.get(Number(formatData(selector))) ?? [])
  }
  assert.deepEqual(lookup('function', Uint8Array.of(0, 0, 0, 0)), [])
  const version = table.version()
  assert.equal(table.remove(id), true)
  assert.equal(table.remove(id), false)
  assert.notEqual(table.version(), version)
  assert.deepEqual(
    table.list().map(({ name, functions, events: count }) => [name, functions, count]),
    [['first', first.length, 500]],
  )
  table.add('first', { function: sorted(['f()']), event: sorted([]) })
  assert.deepEqual([pages(), table.list().length], [1, 1])
})

test('signatures with one selector stay together, and damaged pages name nothing', (t) => {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const table = createSignatureTable(db)
  const same = Array.from({ length: 64 }, (_, i) => `same${i}(${'address,'.repeat(60)}bool)`)
  const before = 'before()'
  table.add('x', {
    function: { keys: [keyOf(before), ...same.map(() => 0xffffffff)], texts: [before, ...same] },
    event: sorted([]),
  })
  assert.equal(db.prepare('SELECT count(*) FROM signature_pages').pluck().get(), 1)
  const lookup = createSignatureLookup(table)
  assert.deepEqual(lookup('function', parseHex(toFunctionSelector(before))), [before])
  // Their hashes do not begin with the key that the page has.
  assert.deepEqual(lookup('function', parseHex('0xffffffff')), [])
  db.exec("UPDATE signature_pages SET data = x'00ff'")
  assert.deepEqual(createSignatureLookup(table)('function', parseHex(toFunctionSelector(before))), [])
})
