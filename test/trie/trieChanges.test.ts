import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { createKeySorter } from '../../src/trie/trieChanges.js'
import { seededRandom } from '../support/random.js'

test('keys are sorted as by comparing their bytes, those of equal beginnings too', () => {
  const random = seededRandom(3)
  const sort = createKeySorter()
  for (const count of [1, 2, 5, 11, 12, 13, 14, 32, 33, 100, 1023, 1024, 1025, 5000]) {
    for (const shared of [0, 3, 5, 6, 7, 31]) {
      const keys = Array.from({ length: count }, () => {
        const key = random.bytes(32)
        if (random.below(shared === 31 ? 200 : 3) > 0) key.fill(0xab, 0, shared)
        return key
      })
      // The range begins behind other keys, which are left.
      const before = random.below(3)
      const given = Buffer.concat([new Uint8Array(before * 32).fill(7), ...keys])
      const sorted = new Uint8Array(given.length)
      const order = sort(new Uint8Array(given), sorted, { from: before, to: before + count })
      const wanted = keys.map((key, index) => ({ key, index })).sort((a, b) => Buffer.compare(a.key, b.key))
      const place = `${count} keys, ${shared} shared bytes`
      assert.equal(
        formatData(sorted),
        formatData(Buffer.concat([new Uint8Array(before * 32), ...wanted.map(({ key }) => key)])),
        place,
      )
      for (const [i, { key }] of wanted.entries()) assert.deepEqual(keys[order[i]], key, place)
    }
  }
})
