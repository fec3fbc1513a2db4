import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createByteLru } from '../../src/lib/byteLru.js'
import { seededFractions } from '../index/logs/randomLogs.js'

/** The same by a list, the least recently used entry first. */
function createOracle(maxBytes: number) {
  let entries: { key: string; value: number }[] = []
  const without = (key: string) => entries.filter((entry) => entry.key !== key)
  const total = () => entries.reduce((sum, { value }) => sum + value, 0)
  return {
    get(key: string) {
      const entry = entries.find((candidate) => candidate.key === key)
      if (entry !== undefined) entries = [...without(key), entry]
      return entry?.value
    },
    set(key: string, value: number) {
      entries = without(key)
      if (value <= maxBytes) entries.push({ key, value })
      while (total() > maxBytes) entries.shift()
    },
    deleteWhere(isUnwanted: (value: number) => boolean) {
      entries = entries.filter(({ value }) => !isUnwanted(value))
    },
    size: () => entries.length,
    bytes: total,
  }
}

test('holds what a plain list of the most recently used entries holds', () => {
  const random = seededFractions(41)
  const maxBytes = 1_000
  const lru = createByteLru<number>({ maxBytes, sizeOf: (_key, value) => value })
  const oracle = createOracle(maxBytes)
  let hits = 0
  for (let i = 0; i < 20_000; i++) {
    const key = `k${Math.floor(random() ** 2 * 60)}`
    if (random() < 0.5) {
      const value = lru.get(key)
      assert.equal(value, oracle.get(key))
      if (value !== undefined) hits++
    } else {
      const value = random() < 0.02 ? 900 + Math.floor(random() * 200) : Math.floor(random() * 90)
      lru.set(key, value)
      oracle.set(key, value)
    }
    if (random() < 0.002) {
      const least = Math.floor(random() * 90)
      for (const cache of [lru, oracle]) cache.deleteWhere((value) => value >= least)
    }
    assert.equal(lru.size(), oracle.size())
    assert.equal(lru.bytes(), oracle.bytes())
    assert.ok(lru.bytes() <= maxBytes)
  }
  assert.ok(hits > 2_000, String(hits))
})

test('a value that is larger than the bound is not available and takes its older one away', () => {
  const lru = createByteLru<string>({ maxBytes: 10, sizeOf: (key, value) => key.length + value.length })
  lru.set('a', '12345')
  lru.set('b', '123')
  assert.equal(lru.bytes(), 10)
  lru.set('a', '1234567890')
  assert.deepEqual([lru.get('a'), lru.get('b'), lru.size(), lru.bytes()], [undefined, '123', 1, 4])
})

test('nothing refers to deleted values', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const lru = createByteLru<object>({ maxBytes: 100, sizeOf: () => 1 })
  const values: WeakRef<object>[] = []
  const fill = () => {
    for (let i = 0; i < 1_000; i++) {
      const value = { i }
      values.push(new WeakRef(value))
      lru.set(`k${i}`, value)
    }
  }
  fill()
  lru.deleteWhere(() => true)
  await nextTurn() // a WeakRef keeps its value until the end of the turn
  collect()
  assert.equal(values.filter((value) => value.deref() !== undefined).length, 0)
  assert.deepEqual([lru.size(), lru.bytes()], [0, 0])
})
