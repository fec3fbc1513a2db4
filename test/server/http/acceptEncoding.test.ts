import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseCoding } from '../../../src/server/http/acceptEncoding.js'

test('the coding is the one that a client wants most, brotli where both are wanted the same', () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, zstd', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;Q=1.0 , Br ; q=0.5', 'gzip'],
    ['br;q=0.9,gzip;q=0.91', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0.000', undefined],
    ['*', 'br'],
    ['*;q=0.1', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.2, *;q=0', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, *', 'br'],
    ['gzip;q=0.5, identity', undefined],
    ['gzip;q=0.5, identity;q=0.6', undefined],
    ['gzip;q=1.0,deflate;q=0.6,identity;q=0.3', 'gzip'],
    ['gzip, identity', 'gzip'],
    ['gzip;q=high', undefined],
    ['gzip;level=9', undefined],
    ['gzip;q=2, br;q=0.1', 'br'],
    ['gzip;;, br', 'br'],
    ['gzipped, brotli', undefined],
  ]
  for (const [header, coding] of cases) assert.equal(chooseCoding(header), coding, String(header))
})
