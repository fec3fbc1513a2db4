import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '../../src/lib/progress.js'
import { createRateMeter } from '../../src/lib/rateMeter.js'
import { createTarget } from '../support/progressTarget.js'

const REDRAW = '\r\x1b[K'

test('a terminal has one line, redrawn ten times a second and when its width changes', () => {
  const { written, clock, resize, listeners, target } = createTarget(80)
  const progress = createProgress({ label: 'log index', unit: 'logs', total: 10_000, ...target })
  progress.update(0)
  assert.deepEqual([written.length], [0])
  for (clock.ms = 1000; clock.ms <= 5000; clock.ms += 50) progress.update(clock.ms)
  assert.deepEqual([written.length], [41])
  assert.equal(written[40], `${REDRAW}50 % log index, 5,000 of 10,000 logs, 1,000 logs/s, 5 s left`)
  for (const text of written) assert.match(text.slice(REDRAW.length), /^[^\n\r]{1,79}$/)
  resize(40)
  assert.equal(written.at(-1), `${REDRAW}50 % log index, 5 s left`)
  resize(120)
  assert.match(written.at(-1)!.slice(REDRAW.length), /^\[#{10}\.{10}\] 50 % log index/)
  progress.finish('done')
  assert.equal(written.at(-1), `${REDRAW}log index, 5,000 of 10,000 logs in 5.0 s, 990 logs/s, done\n`)
  assert.equal(listeners(), 0)
})

test('elsewhere a plain line with the time is written every five seconds, and a last one', () => {
  const { written, clock, target } = createTarget()
  const progress = createProgress({ label: 'log index', unit: 'logs', total: 100_000, ...target })
  for (clock.ms = 100; clock.ms <= 12_000; clock.ms += 100) progress.update(clock.ms)
  progress.finish()
  assert.deepEqual(
    written.map((text) => text.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, 'TIME ')),
    [
      'TIME 5 % log index, 5,000 of 100,000 logs, 1,000 logs/s, 2 min left\n',
      'TIME 10 % log index, 10,000 of 100,000 logs, 1,000 logs/s, 2 min left\n',
      'TIME log index, 12,000 of 100,000 logs in 13 s, 992 logs/s\n',
    ],
  )
})

test('rates are over the last half minute', () => {
  let ms = 0
  const meter = createRateMeter(1, () => ms)
  assert.deepEqual(meter.perSecond(), [0])
  for (ms = 0; ms <= 60_000; ms += 500) meter.add([ms / 10])
  assert.deepEqual(meter.perSecond(), [100])
  const [count, from] = [ms / 10, ms]
  for (; ms <= from + 30_000; ms += 500) meter.add([count])
  assert.ok(meter.perSecond()[0] < 5)
})
