import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBody } from '../../../src/rpc/core/envelope.js'
import { MAX_JSON_WEIGHT, MAX_REQUEST_DEPTH, measureShape } from '../../../src/rpc/core/jsonShape.js'
import { seededRandom } from '../../support/random.js'

const TOO_DEEP = 'request is nested deeper than 256 levels'
const TOO_MANY = 'request holds too many values, send fewer in one request'

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth)
const findShapeFault = (text: string) => measureShape(text).fault
const PADDING = ' '.repeat(2 * MAX_REQUEST_DEPTH)

test('a text may be nested up to the limit', () => {
  assert.equal(findShapeFault(PADDING + nested(MAX_REQUEST_DEPTH)), undefined)
  assert.equal(findShapeFault(PADDING + nested(MAX_REQUEST_DEPTH + 1)), TOO_DEEP)
  assert.equal(findShapeFault(PADDING + nested(MAX_REQUEST_DEPTH, '{"a":', '}')), undefined)
  assert.equal(findShapeFault(PADDING + nested(MAX_REQUEST_DEPTH + 1, '{"a":', '}')), TOO_DEEP)
  assert.equal(findShapeFault(nested(MAX_REQUEST_DEPTH + 1)), TOO_DEEP)
  assert.equal(findShapeFault(`[${'[],'.repeat(1000)}1]`), undefined)
})

test('brackets within strings do not count, whatever is escaped', () => {
  const brackets = '['.repeat(1000)
  for (const string of [`"${brackets}"`, `"\\"${brackets}"`, `"\\\\\\"${brackets}\\""`, `"a${brackets}\\u0022"`]) {
    assert.equal(findShapeFault(`{"a":${string}}`), undefined, string.slice(0, 9))
    assert.equal(findShapeFault(`{"a":${string},"b":${nested(300)}}`), TOO_DEEP, string.slice(0, 9))
  }
  assert.equal(findShapeFault(`["\\\\",${nested(300)}]`), TOO_DEEP)
  assert.equal(findShapeFault(`[1${' '.repeat(1000)},${nested(300)}]`), TOO_DEEP)
})

test('the number of values, members and arrays of a text is limited', () => {
  const list = (n: number, item: string) => `[${Array(n).fill(item).join(',')}]`
  const values = MAX_JSON_WEIGHT - 2
  assert.equal(findShapeFault(list(values, '1')), undefined)
  assert.equal(findShapeFault(list(values + 1, '1')), TOO_MANY)
  assert.equal(findShapeFault(list(70_000, '[]')), TOO_MANY)
  assert.equal(findShapeFault(list(40_000, '"a":1')), TOO_MANY)
  assert.equal(findShapeFault(list(40_000, '"a:1,2,[3]{"')), undefined)
})

test('what clients send is light', () => {
  const address = `0x${'ab'.repeat(20)}`
  const call = { from: address, to: address, gas: '0x1', gasPrice: '0x1', value: '0x1', data: `0x${'cd'.repeat(36)}` }
  const calls = Array.from({ length: 1000 }, (_, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_call',
    params: [call, '0x1'],
  }))
  assert.equal(findShapeFault(JSON.stringify(calls)), undefined)
  assert.equal(findShapeFault(JSON.stringify([{ address: Array(100_000).fill(address) }])), undefined)
})

test('the depth of any text is found as a parser finds it', () => {
  const random = seededRandom(31)
  const pieces = ['"', '\\', '[', ']', '{', '}', ',', ':', 'a', ' ', '\\"', '"x"', '1', '[[[[', ']]]]', 'y'.repeat(80)]
  for (let i = 0; i < 2000; i++) {
    let text = PADDING
    const length = random.below(900)
    for (let n = 0; n < length; n++) text += pieces[random.below(10) < 3 ? 13 : random.below(pieces.length)]
    assert.equal(findShapeFault(text), slowDepth(text) > MAX_REQUEST_DEPTH ? TOO_DEEP : undefined)
  }
})

/** Character by character. */
function slowDepth(text: string): number {
  let [depth, most, isString] = [0, 0, false]
  for (let i = 0; i < text.length; i++) {
    if (isString && text[i] === '\\') i++
    else if (text[i] === '"') isString = !isString
    else if (!isString && '[{'.includes(text[i])) most = Math.max(most, ++depth)
    else if (!isString && ']}'.includes(text[i])) depth--
  }
  return most
}

test('a body that is too deep or too heavy is refused before it is parsed', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  const refuse = (text: string, message: string) => {
    const body = parseBody(text)
    assert.deepEqual(body, { kind: 'single', item: { idText: 'null', error: { code: -32600, message } } })
  }
  refuse('['.repeat(4_800_000), TOO_DEEP)
  refuse(`{"jsonrpc":"2.0","id":1,"method":"m","params":${nested(300)}}`, TOO_DEEP)
  refuse(`{"id":1.5${',"k":1'.repeat(350_000)}}`, TOO_MANY)
  refuse(`[${'{},'.repeat(1_600_000)}{}]`, TOO_MANY)
  assert.equal(parse.mock.callCount(), 0)
})
