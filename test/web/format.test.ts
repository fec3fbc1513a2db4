import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  byteLength,
  cutMiddle,
  formatAge,
  formatBriefly,
  formatBytes,
  formatCount,
  formatDuration,
  formatEther,
  formatLag,
  formatMs,
  formatPlural,
  formatShare,
  formatTime,
  splitWords,
} from '../../src/web/format.js'

test('numbers are grouped, also those beyond 2^53', () => {
  assert.equal(formatCount(1234567), '1,234,567')
  assert.equal(formatCount('0x20000000000001'), '9,007,199,254,740,993')
  assert.equal(formatCount(2n ** 64n), '18,446,744,073,709,551,616')
})

test('nouns follow their numbers', () => {
  assert.deepEqual(
    [0, 1, 1234].map((count) => formatPlural(count, 'log')),
    ['0 logs', '1 log', '1,234 logs'],
  )
})

test('ether is exact', () => {
  assert.equal(formatEther(0n), '0')
  assert.equal(formatEther(1n), '0.000000000000000001')
  assert.equal(formatEther(1_234_500_000_000_000_000_000n), '1,234.5')
  assert.equal(formatEther(2n ** 256n - 1n).replace(/[,.]/g, ''), (2n ** 256n - 1n).toString())
})

test('sizes, shares, durations and ages are short', () => {
  assert.deepEqual([0, 1023, 1536, 847_872, 5 * 2 ** 40].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.50 KiB',
    '828.0 KiB',
    '5.00 TiB',
  ])
  assert.deepEqual([formatShare(1n, 3n), formatShare(0, 0)], ['33.3 %', '0 %'])
  assert.deepEqual([0.421, 12.3, 1800].map(formatMs), ['0.42 ms', '12 ms', '1.8 s'])
  const now = 1_000_000_000_000
  const ages = [0n, 59n, 60n, 7200n, 172_800n].map((age) => formatAge(1_000_000_000n - age, now))
  assert.deepEqual(ages, ['0 s ago', '59 s ago', '1 min ago', '2 h ago', '2 d ago'])
  assert.equal(formatAge(1_000_000_001n, now), 'in the future')
})

test('a time beyond the calendar is shown in seconds', () => {
  assert.equal(formatTime(1_735_690_000n), '2025-01-01 00:06:40 UTC')
  assert.equal(formatTime(2n ** 64n - 1n), '18446744073709551615 s')
})

test('hex is measured, cut and split', () => {
  assert.equal(cutMiddle(`0x${'ab'.repeat(32)}`), '0xababab…ababab')
  assert.equal(cutMiddle('0x1234'), '0x1234')
  assert.equal(byteLength('0x'), 0)
  assert.equal(byteLength(`0x${'00'.repeat(33)}`), 33)
  assert.deepEqual(splitWords(`0x${'1'.repeat(64)}22`), ['1'.repeat(64), '22'])
  assert.deepEqual(splitWords('0x'), [])
})

test('the lag of replication is shown in blocks, or in seconds without a connection', () => {
  const lagOf = (role: string, lagBlocks: number | null, lagSeconds: number) =>
    formatLag({ role, lagBlocks, lagSeconds })
  assert.equal(lagOf('replica', 0, 0), 'no lag')
  assert.equal(lagOf('replica', 1_200, 70), '1,200 behind')
  assert.equal(lagOf('writer', 3, 1), '3 unpublished')
  assert.equal(lagOf('standby', 0, 3_600), '3,600 s behind')
  assert.equal(lagOf('replica', null, 70), '70 s behind')
  assert.equal(lagOf('replica', null, 0), 'unknown')
})

test('brief amounts have six decimals, rounded down, and never look like nothing', () => {
  for (const [text, shown] of [
    ['0', '0'],
    ['0.0', '0'],
    ['1234.5', '1,234.5'],
    ['1.0000009', '1'],
    ['0.123456789', '0.123456'],
    ['0.000000000000000001', '1e-18'],
    ['0.0000005123', '5.12e-7'],
    ['2.100000', '2.1'],
    ['123456789.123456', '123,456,789.123456'],
    ['1234567890.5', '1,234,567,890'],
    ['999999999999.9', '999,999,999,999'],
    ['1999999999999', '1.99e12'],
    ['1000000000000000000000000.5', '1e24'],
    [String(2n ** 256n - 1n), '1.15e77'],
  ]) {
    assert.equal(formatBriefly(text), shown, text)
  }
})

test('durations have the largest fitting unit', () => {
  assert.deepEqual([59, 60, 3600, 172_800].map(formatDuration), ['59 s', '1 min', '1 h', '2 d'])
})
