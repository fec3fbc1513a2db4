import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLagClock } from '../../src/replication/lagClock.js'

function clockAt() {
  let ms = 0
  const clock = createLagClock(() => ms)
  return (atMs: number, own: number, newest: number) => {
    ms = atMs
    return clock.seconds(own, newest)
  }
}

test('the lag is the age of the oldest block that waits', () => {
  const seconds = clockAt()
  assert.equal(seconds(0, 10, 10), 0)
  assert.equal(seconds(1_000, 10, 11), 0)
  assert.equal(seconds(2_500, 10, 12), 1)
  assert.equal(seconds(3_500, 11, 13), 1)
  assert.equal(seconds(9_000, 12, 13), 5)
  assert.equal(seconds(9_000, 13, 13), 0)
})

test('one that is always a block behind a busy chain does not lag', () => {
  const seconds = clockAt()
  for (let block = 0; block < 1_000; block++) assert.equal(seconds(block * 900, block, block + 1), 0)
})

test('a reorg to fewer blocks makes none of them younger', () => {
  const seconds = clockAt()
  assert.equal(seconds(0, 10, 14), 0)
  assert.equal(seconds(4_000, 10, 12), 4)
  assert.equal(seconds(5_000, 10, 15), 5)
  assert.equal(seconds(6_000, 12, 15), 1)
  assert.equal(seconds(6_000, 12, 11), 0)
  assert.equal(seconds(8_000, 12, 16), 0)
})
