import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGenerationCache } from '../../src/lib/generationCache.js'
import { seededRandom } from '../support/random.js'

test('gives what was set last or nothing, keeps what is used, and stays within its bound', () => {
  const random = seededRandom(3)
  const maxBytes = 1000
  const set = new Map<number, { bytes: number }>()
  const cache = createGenerationCache<number, { bytes: number }>({ maxBytes, sizeOf: (_, { bytes }) => bytes })
  let found = 0
  for (let step = 0; step < 20_000; step++) {
    const key = random.below(300)
    const choice = random.below(40)
    if (choice === 0) {
      cache.delete(key)
      set.delete(key)
    } else if (choice < 15) {
      const value = { bytes: 1 + random.below(20) }
      cache.set(key, value)
      set.set(key, value)
      assert.equal(cache.get(key), value)
    } else {
      const value = cache.get(key)
      if (value !== undefined) assert.equal(value, set.get(key), `step ${step}`)
      found += value === undefined ? 0 : 1
    }
  }
  assert.ok(found > 1000, `${found} found`)
  let held = 0
  for (const [key, value] of set) if (cache.get(key) !== undefined) held += value.bytes
  assert.ok(held > 0 && held <= maxBytes + 20, `${held} bytes`)
  cache.clear()
  for (const key of set.keys()) assert.equal(cache.get(key), undefined)
})

test('an entry that is asked for again and again stays while others pass by', () => {
  const cache = createGenerationCache<number, string>({ maxBytes: 100, sizeOf: () => 1 })
  cache.set(-1, 'wanted')
  for (let key = 0; key < 1000; key++) {
    cache.set(key, 'passing')
    if (key % 20 === 0) assert.equal(cache.get(-1), 'wanted')
  }
  assert.equal(cache.get(0), undefined)
})
