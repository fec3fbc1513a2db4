import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonTooDeep, parseJsonExact } from '../../src/lib/json.js'

test('integers beyond 2^53 come as their decimal text, with every digit', () => {
  assert.deepEqual(parseJsonExact('{"a": 18446744073709551615, "b": [9007199254740993, -9007199254740993]}'), {
    a: '18446744073709551615',
    b: ['9007199254740993', '-9007199254740993'],
  })
})

test('short integers, fractions and exponents stay numbers', () => {
  const text =
    '[1, 999999999999999, 0.1234567890123456789, 1e400000000000000000000, 1234567890123456.5, 1234567890123456]'
  assert.deepEqual(parseJsonExact(text), [
    1,
    999999999999999,
    0.12345678901234568,
    Infinity,
    1234567890123456.5,
    1234567890123456,
  ])
})

test('digits inside strings are left alone, behind escaped quotes too', () => {
  const value = { 'a "b\\': ': 12345678901234567890', c: '\\": 12345678901234567890 \\', d: 1 }
  const text = JSON.stringify(value).replace('"d":1', '"d":12345678901234567890')
  assert.deepEqual(parseJsonExact(text), { ...value, d: '12345678901234567890' })
})

test('text that is no JSON is a SyntaxError, with long integers in it or not', () => {
  for (const text of ['{"a": ', '{"a": 12345678901234567890', 'x12345678901234567890', '']) {
    assert.throws(() => parseJsonExact(text), SyntaxError)
  }
})

test('integers that are exact as numbers stay numbers, however they are signed', () => {
  assert.deepEqual(parseJsonExact('[9007199254740991, 9007199254740992, -9007199254740991, -9007199254740992]'), [
    9007199254740991,
    '9007199254740992',
    -9007199254740991,
    '-9007199254740992',
  ])
})

test('a string without an end takes linear time', () => {
  // Each of a million escaped quotes might begin a string: tried one by one they take hours.
  const text = `{"a": 12345678901234567890, "b": "${'\\"'.repeat(1_000_000)}`
  assert.throws(() => parseJsonExact(text), SyntaxError)
  assert.equal((parseJsonExact(`${text}"}`) as { b: string }).b.length, 1_000_000)
})

test('text nested more than 256 deep is refused with the place, brackets in strings not counted', () => {
  const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}"[[{"${'}]'.repeat(depth / 2)}`
  assert.doesNotThrow(() => parseJsonExact(nested(256)))
  assert.throws(
    () => parseJsonExact(nested(258)),
    (error: unknown) => {
      assert.ok(error instanceof JsonTooDeep)
      assert.equal(error.message, 'expected JSON nested at most 256 deep, got more at character 768')
      return true
    },
  )
  assert.throws(() => parseJsonExact('['.repeat(5_000_000)), JsonTooDeep)
  assert.doesNotThrow(() => parseJsonExact(`[${'[],'.repeat(1000)}{}]`))
})
