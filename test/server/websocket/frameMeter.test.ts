import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFrameMeter } from '../../../src/server/websocket/frameMeter.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

/** A frame as clients send it (RFC 6455, section 5.2). */
function frame(opcode: number, length: number, isFinal: boolean): Buffer {
  const head = [(isFinal ? 0x80 : 0) | opcode]
  if (length < 126) head.push(0x80 | length)
  else if (length < 65_536) head.push(0x80 | 126, length >> 8, length & 0xff)
  else head.push(0x80 | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff)
  return Buffer.concat([Buffer.from([...head, 1, 2, 3, 4]), Buffer.alloc(length, 0xff)])
}

/** The frames of a message, with pings among them. */
function message(random: SeededRandom): Buffer[] {
  const lengths = Array.from({ length: random.below(4) + 1 }, () => random.below([10, 126, 70_000][random.below(3)]))
  return lengths.flatMap((length, i) => [
    ...(random.below(3) === 0 ? [frame(9, random.below(126), true)] : []),
    frame(i === 0 ? 1 : 0, length, i === lengths.length - 1),
  ])
}

test('whole messages are counted, and nothing is left of them, however the bytes are cut', () => {
  const random = seededRandom(11)
  for (let run = 0; run < 40; run++) {
    const meter = createFrameMeter()
    const messages = Array.from({ length: random.below(5) + 1 }, () => message(random))
    const bytes = Buffer.concat(messages.flat())
    for (let at = 0; at < bytes.length; ) {
      const next = at + random.below(run % 2 ? 20_000 : 200) + 1
      meter.feed(bytes.subarray(at, next))
      at = next
    }
    assert.equal(meter.finished(), messages.length)
    assert.equal(meter.unfinishedBytes(), 0)
  }
})

test('a message that is not whole takes at least its bytes, in pieces more', () => {
  const meter = createFrameMeter()
  meter.feed(frame(1, 100_000, true).subarray(0, 90_000))
  assert.ok(meter.unfinishedBytes() >= 90_000 && meter.unfinishedBytes() < 91_000)
  const fragments = createFrameMeter()
  for (let i = 0; i < 1000; i++) fragments.feed(frame(i === 0 ? 1 : 0, 1, false))
  assert.ok(fragments.unfinishedBytes() > 250_000, 'each fragment is an object')
  fragments.feed(frame(9, 5, true))
  assert.equal(fragments.finished(), 0, 'a ping ends no message')
  fragments.feed(frame(0, 0, true))
  assert.deepEqual([fragments.finished(), fragments.unfinishedBytes()], [1, 0])
  const bytewise = createFrameMeter()
  for (const byte of frame(1, 1000, true).subarray(0, 1000)) bytewise.feed(Buffer.from([byte]))
  assert.ok(bytewise.unfinishedBytes() > 200_000, 'each piece is an object')
})
