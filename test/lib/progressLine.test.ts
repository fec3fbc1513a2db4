import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, formatElapsed, formatProgressLine, formatRate } from '../../src/lib/progressLine.js'

const PARTS = {
  fraction: 0.416,
  label: 'mainnet-00012-5ec1ffb8.era1',
  place: '13 of 40',
  figures: ['1,234 blocks/s', '5,678 tx/s', '320 Mgas/s', 'block 1,234,567'],
  secondsLeft: 9210,
}

test('a line has all there is to say where there is room', () => {
  assert.equal(
    formatProgressLine(PARTS, 200),
    '[########............] 41 % mainnet-00012-5ec1ffb8.era1 (13 of 40), 1,234 blocks/s, 5,678 tx/s, 320 Mgas/s, block 1,234,567, 2 h 34 min left',
  )
})

test('what matters least is left out first, and the name is shortened in its middle', () => {
  for (const [columns, line] of [
    [
      120,
      '41 % mainnet-00012-5ec1ffb8.era1 (13 of 40), 1,234 blocks/s, 5,678 tx/s, 320 Mgas/s, block 1,234,567, 2 h 34 min left',
    ],
    [107, '41 % mainnet-00012-5ec1ffb8.era1, 1,234 blocks/s, 5,678 tx/s, 320 Mgas/s, block 1,234,567, 2 h 34 min left'],
    [100, '41 % mainnet-00..ffb8.era1, 1,234 blocks/s, 5,678 tx/s, 320 Mgas/s, block 1,234,567, 2 h 34 min left'],
    [79, '41 % mainnet-..b8.era1, 1,234 blocks/s, 5,678 tx/s, 320 Mgas/s, 2 h 34 min left'],
    [60, '41 % mainnet-00..1ffb8.era1, 1,234 blocks/s, 2 h 34 min left'],
    [40, '41 % mainnet-..fb8.era1, 2 h 34 min left'],
    [20, '41 % mainn...era1, 2'],
  ] as const) {
    assert.equal(formatProgressLine(PARTS, columns), line)
  }
})

test('no line is wider than the terminal, whatever the name is', () => {
  for (const label of ['', 'x', 'é'.repeat(90), '区块'.repeat(40), 'chain\x1b[2J\n\u202e.rlp']) {
    for (let columns = 0; columns < 150; columns++) {
      const line = formatProgressLine({ ...PARTS, label }, columns)
      const width = [...line].reduce((sum, character) => sum + (character > '\u1100' ? 2 : 1), 0)
      assert.ok(width <= columns, `${columns}: ${line}`)
      assert.match(line, /^[^\p{Cc}\p{Cf}]*$/u)
    }
  }
})

test('a part beyond the whole is all of it', () => {
  assert.match(formatProgressLine({ ...PARTS, fraction: 1.2 }, 200), /^\[#{20}\] 100 % /)
})

test('times left are rounded up, in two units from an hour on', () => {
  for (const [seconds, text] of [
    [0, '0 s'],
    [0.2, '1 s'],
    [59, '59 s'],
    [60, '1 min'],
    [61, '2 min'],
    [3599, '1 h 0 min'],
    [3600, '1 h 0 min'],
    [9210, '2 h 34 min'],
    [86_399, '1 d 0 h'],
    [90_000, '1 d 1 h'],
    [273_600, '3 d 4 h'],
  ] as const) {
    assert.equal(formatDuration(seconds), text)
  }
  assert.deepEqual([0.04, 9.94, 9.96, 75].map(formatElapsed), ['0.0 s', '9.9 s', '10 s', '2 min'])
})

test('rates below ten have a decimal', () => {
  assert.equal(formatRate(9.94, 'blocks'), '9.9 blocks/s')
  assert.equal(formatRate(9.96, 'blocks'), '10 blocks/s')
  assert.equal(formatRate(1234.5, 'tx'), '1,235 tx/s')
})
