import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCall, parseBody, type RpcCall } from '../../../src/rpc/core/envelope.js'
import { scanRawIds } from '../../../src/rpc/core/rawIds.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

function single(text: string) {
  const body = parseBody(text)
  assert.equal(body.kind, 'single')
  return (body as { item: RpcCall | { idText: string; error: { code: number; message: string } } }).item
}

function errorOf(text: string): [string | undefined, number, string] {
  const item = single(text)
  assert.ok('error' in item, text)
  return [item.idText, item.error.code, item.error.message]
}

const CALL = '"jsonrpc":"2.0","method":"m"'

test('an id comes back in the form it was sent', () => {
  const ids = [
    '1',
    '0',
    '-5',
    '"a"',
    '""',
    'null',
    '9007199254740993',
    '123456789012345678901234567890',
    '1.50',
    '1e400',
    '-0',
    '0.1e-7',
    'true',
    '"ü\\n"',
  ]
  for (const id of ids) {
    const text = `{${CALL} , "id" :\t${id} ,"params":[{"id":99}]}`
    const item = single(text)
    assert.ok(isCall(item), text)
    assert.equal(JSON.parse(item.idText ?? ''), JSON.parse(id))
    if (!id.startsWith('"')) assert.equal(item.idText, id)
  }
})

test('a request without an id is a notification', () => {
  const item = single(`{${CALL},"params":[{"id":1}]}`)
  assert.ok(isCall(item))
  assert.equal(item.idText, undefined)
})

test('of an id that is there twice the last one counts, as JSON.parse has it', () => {
  const item = single(`{"id":9007199254740993,${CALL},"\\u0069d":9007199254740995}`)
  assert.equal(item.idText, '9007199254740995')
})

test('what is no JSON is a parse error with id null', () => {
  for (const text of ['', '{', '[1,]', 'nothing', '{"jsonrpc":"2.0",}', '\u0000', '\ufeff{}']) {
    assert.deepEqual(errorOf(text), ['null', -32700, 'parse error'], text)
  }
})

test('what is no request is invalid', () => {
  assert.deepEqual(errorOf('1'), ['null', -32600, 'invalid request'])
  assert.deepEqual(errorOf('null'), ['null', -32600, 'invalid request'])
  assert.deepEqual(errorOf('{}'), ['null', -32600, 'invalid request'])
  assert.deepEqual(errorOf('{"id":7,"method":"m"}'), ['7', -32600, 'invalid request'])
  assert.deepEqual(errorOf('{"id":7,"method":"m","jsonrpc":"1.0"}'), ['7', -32600, 'invalid request'])
  assert.deepEqual(errorOf('{"id":7,"method":5,"jsonrpc":"2.0"}'), ['7', -32600, 'invalid request'])
  assert.deepEqual(errorOf(`{"id":{},${CALL}}`), ['null', -32600, 'invalid request'])
  assert.deepEqual(errorOf(`{"id":[1],${CALL}}`), ['null', -32600, 'invalid request'])
  assert.deepEqual(errorOf(`{"id":"invalid","method":5,"jsonrpc":"2.0"}`), ['"invalid"', -32600, 'invalid request'])
})

test('an id that is the text "invalid" is an id', () => {
  assert.ok(isCall(single(`{"id":"invalid",${CALL}}`)))
})

test('a batch may not be empty or hold more than 1,000', () => {
  assert.deepEqual(errorOf('[]'), ['null', -32600, 'empty batch'])
  const items = (n: number) => `[${Array(n).fill(`{"id":1,${CALL}}`).join(',')}]`
  assert.deepEqual(errorOf(items(1001)), ['null', -32600, 'batch too large'])
  assert.equal(parseBody(items(1000)).kind, 'batch')
})

test('each item of a batch has its own id and error', () => {
  const body = parseBody(`[{"id":9007199254740993,${CALL}}, 5, {${CALL}}, [] ,{"id":9007199254740995,${CALL}}]`)
  assert.ok(body.kind === 'batch')
  assert.deepEqual(
    body.items.map((item) => item.idText),
    ['9007199254740993', 'null', undefined, 'null', '9007199254740995'],
  )
  assert.deepEqual(body.items.map(isCall), [true, false, true, false, true])
})

test('raw ids are found in any JSON as JSON.parse finds them', () => {
  const random = seededRandom(7)
  for (let i = 0; i < 2000; i++) {
    const requests = Array.from({ length: 1 + random.below(4) }, () => randomJson(random, 3))
    const text = JSON.stringify(requests, null, random.below(3))
    const expected = requests.map((item) =>
      typeof item === 'object' && item !== null && !Array.isArray(item) && 'id' in item ? item.id : undefined,
    )
    const found = scanRawIds(text).map((raw) => (raw === undefined ? undefined : JSON.parse(raw)))
    assert.deepEqual(found, expected, text)
    if (!Array.isArray(requests[0])) {
      const alone = scanRawIds(JSON.stringify(requests[0], null, 1))[0]
      assert.deepEqual(alone === undefined ? undefined : JSON.parse(alone), expected[0])
    }
  }
})

function randomJson(random: SeededRandom, depth: number): unknown {
  const kind = random.below(depth === 0 ? 5 : 8)
  if (kind === 0) return random.below(1000) - 500
  if (kind === 1) return null
  if (kind === 2) return random.below(2) === 0
  if (kind < 5) return ['', 'id', '"id":1', '\\', '{"id":5}', '][}{,:', '\\"', 'ü\n\u2028'][random.below(8)]
  const size = random.below(4)
  if (kind === 5) return Array.from({ length: size }, () => randomJson(random, depth - 1))
  const names = ['id', 'params', 'a"b', 'x\\', 'ID', '']
  return Object.fromEntries(
    Array.from({ length: size }, () => [names[random.below(names.length)], randomJson(random, depth - 1)]),
  )
}

test('ids are found without parsing names or values a second time', (t) => {
  const members = Array.from({ length: 10_000 }, (_, i) => `"key ${i}":${i}`).join(',')
  const text = `{${members},${CALL},"id":1.50}`
  const parse = t.mock.method(JSON, 'parse')
  assert.equal(single(text).idText, '1.50')
  assert.equal(parse.mock.callCount(), 1)
})
