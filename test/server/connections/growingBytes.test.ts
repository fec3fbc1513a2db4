import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGrowingBytes } from '../../../src/server/connections/growingBytes.js'
import { seededRandom } from '../../support/random.js'

test('pieces of any size come out as they went in, in at most twice their memory', () => {
  const random = seededRandom(5)
  for (let run = 0; run < 50; run++) {
    const growing = createGrowingBytes(100_000)
    const pieces: Buffer[] = []
    for (let i = random.below(60); i >= 0; i--) {
      const piece = Buffer.from(Array.from({ length: random.below(run) }, () => random.below(256)))
      pieces.push(Buffer.from(piece))
      growing.append(piece)
      piece.fill(0) // it may be used again
    }
    const whole = Buffer.concat(pieces)
    assert.ok(growing.bytes().equals(whole))
    assert.equal(growing.sizeBytes(), whole.length)
    assert.ok(growing.capacityBytes() <= 2 * whole.length)
  }
})

test('no more memory is taken than may come', () => {
  const growing = createGrowingBytes(1000)
  growing.append(Buffer.alloc(600))
  growing.append(Buffer.alloc(1))
  assert.equal(growing.capacityBytes(), 1000)
})
