import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRecordTable } from '../../src/trie/recordTable.js'
import { seededRandom } from '../support/random.js'

test('a record is found by its number and bytes, and keeps its content as the table grows', () => {
  const random = seededRandom(9)
  const table = createRecordTable(2, 4) // a number, two words, a word of content
  const known = new Map<string, { index: number; content: number }>()
  for (let i = 0; i < 20_000; i++) {
    // Keys that differ in one byte, and numbers that differ.
    const key = new Uint8Array(8)
    key[random.below(8)] = random.below(256)
    key[random.below(8)] = random.below(256)
    const prefix = random.below(3)
    const name = `${prefix} ${key}`
    const { count } = table
    const index = table.find(prefix, key)
    const held = known.get(name)
    assert.equal(table.count, held === undefined ? count + 1 : count)
    assert.equal(index, held?.index ?? count)
    assert.equal(table.words[index * 4 + 3], held?.content ?? 0)
    assert.deepEqual(table.bytes.subarray(index * 16 + 4, index * 16 + 12), key)
    table.words[index * 4 + 3] = i
    known.set(name, { index, content: i })
  }
  assert.ok(known.size > 5_000)
  for (const { index, content } of known.values()) assert.equal(table.words[index * 4 + 3], content)
})
