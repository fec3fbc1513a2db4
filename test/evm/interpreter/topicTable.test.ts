import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TopicTable } from '../../../src/evm/interpreter/topicTable.js'
import { setBytes } from '../../../src/evm/interpreter/words/words.js'
import { seededRandom } from '../../support/random.js'

test('topics are their words, also when many share the places, and the same array when one comes again', () => {
  const random = seededRandom(21)
  const table = new TopicTable()
  const words = new Int32Array(16)
  // Numbers, which differ in their last bytes alone, zero among them, and random ones: more than the table has places.
  const topics = Array.from({ length: 12_000 }, (_, i) => {
    if (i >= 6_000) return random.bytes(32)
    const topic = Buffer.alloc(32)
    topic.writeUInt16BE(i, 30)
    return new Uint8Array(topic)
  })
  let shared = 0
  const given = new Map<number, { topic: Uint8Array; copy: Uint8Array }>()
  for (let i = 0; i < 40_000; i++) {
    const index = random.below(3) === 0 ? random.below(100) : random.below(topics.length)
    setBytes(words, 8, topics[index], 0, 32)
    const topic = table.of(words, 8)
    assert.ok(Buffer.from(topics[index]).equals(topic), `topic ${index}`)
    if (given.get(index)?.topic === topic) shared++
    given.set(index, { topic, copy: topic.slice() })
  }
  assert.ok(shared > 10_000, `${shared} were shared`)
  for (const { topic, copy } of given.values()) assert.ok(Buffer.from(copy).equals(topic))
})
