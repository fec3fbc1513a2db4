import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Interface, ParamType } from 'ethers'
import { type AbiFunction, type AbiParameter, encodeFunctionResult, parseAbiItem } from 'viem'
import { decodeResult, describeRevert, encodeCall, isList, parseAbiText } from '../../src/web/contractCalls.js'
import { seededRandom } from '../support/random.js'
import { randomParameter, randomValue } from '../support/randomAbi.js'

const parse = (text: string) => parseAbiItem([text] as never) as unknown as AbiFunction

/** What a user types for a value. */
function typed(parameter: AbiParameter, value: unknown): string {
  const plain = (each: unknown): unknown => {
    if (typeof each === 'bigint' || typeof each === 'number') return String(each)
    if (Array.isArray(each)) return each.map(plain)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [name, plain(member)]))
  }
  return isList(parameter) ? JSON.stringify(plain(value)) : String(value)
}

/** The value as ethers has it: tuples are lists. */
function listed(parameter: AbiParameter, value: unknown): unknown {
  const item = /^(.*)\[\d*\]$/.exec(parameter.type)?.[1]
  if (item !== undefined) {
    return (value as unknown[]).map((each) => listed({ ...parameter, type: item } as AbiParameter, each))
  }
  if (parameter.type !== 'tuple') return value
  const { components } = parameter as { components: readonly AbiParameter[] }
  return components.map((component, i) => {
    const members = value as { [name: string]: unknown }
    return listed(component, Array.isArray(value) ? value[i] : members[component.name ?? ''])
  })
}

test('calls are encoded as by ethers, from what a user types', () => {
  const random = seededRandom(7)
  for (let round = 0; round < 300; round++) {
    const inputs = Array.from({ length: 1 + random.below(3) }, (_, i) => randomParameter(random, `p${i}`))
    const item: AbiFunction = { type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' }
    const values = inputs.map((input) => randomValue(random, input))
    const expected = new Interface([
      { type: 'function', name: 'f', inputs: inputs.map((input) => ParamType.from(input)) as never },
    ])
    const texts = inputs.map((input, i) => typed(input, values[i]))
    assert.equal(
      encodeCall(item, texts),
      expected.encodeFunctionData(
        'f',
        inputs.map((input, i) => listed(input, values[i])),
      ),
      texts.join(' '),
    )
  }
})

test('an argument that does not fit is named', () => {
  for (const [type, text, message] of [
    ['uint8 x', '256', /^x: 256 is beyond uint8/],
    ['uint8 x', '', /^x: uint8 is an integer/],
    ['int8 x', '-129', /beyond int8/],
    ['address x', '0x12', /an address is/],
    ['bool x', 'yes', /a bool is true or false/],
    ['bytes4 x', '0x12', /bytes4 is 0x and 8 digits/],
    ['bytes x', '0x1', /pairs of hex digits/],
    ['uint256[2] x', '["1"]', /has 2 values/],
    ['uint256[] x', '1,2', /written as JSON/],
    ['uint256[] x', '[9007199254740993]', /beyond 2\^53 are written as text/],
    ['(uint8 a, bool b) x', '{"a": 1}', /the member b is missing/],
    ['uint256', 'one', /^argument 0: /],
  ] as const) {
    assert.throws(() => encodeCall(parse(`function f(${type})`), [text]), { message })
  }
})

test('integers are typed in decimal, in hex and with separators', () => {
  const item = parse('function f(uint256 x)')
  for (const text of ['1000000', '1_000_000', '1,000,000', ' 0xf4240 ']) {
    assert.equal(encodeCall(item, [text]).slice(-6), '0f4240')
  }
})

test('results are values by name, as the server decodes them', () => {
  const item = parse('function f() view returns (uint256 a, address[] b, (int8 c, bytes d) e)')
  const address = `0x${'ab'.repeat(20)}` as const
  const data = encodeFunctionResult({
    abi: [item],
    functionName: 'f',
    result: [2n ** 200n, [address], { c: -1, d: '0x1234' }],
  } as never)
  const values = decodeResult(item, data)!
  assert.deepEqual(
    values.map(({ name, type }) => [name, type]),
    [
      ['a', 'uint256'],
      ['b', 'address[]'],
      ['e', 'tuple'],
    ],
  )
  assert.equal(values[0].value, String(2n ** 200n))
  assert.deepEqual(
    (values[1].value as string[]).map((each) => each.toLowerCase()),
    [address],
  )
  assert.deepEqual(values[2].value, { c: '-1', d: '0x1234' })
  assert.equal(decodeResult(item, '0x'), undefined)
  assert.equal(decodeResult({ ...item, outputs: undefined } as unknown as AbiFunction, data), undefined)
})

test('revert data are named by the errors of the ABI', () => {
  const errors = [parseAbiItem('error Closed(uint8 code, string why)')]
  const data = new Interface(['error Closed(uint8 code, string why)']).encodeErrorResult('Closed', [7, 'late'])
  assert.equal(describeRevert(errors, data), 'Closed(7, late)')
  assert.equal(describeRevert([], data), undefined)
  for (const malformed of ['0x', '0x12345678', undefined, 7, `${data.slice(0, 40)}`]) {
    assert.equal(describeRevert(errors, malformed), undefined)
  }
})

test('an ABI in text is read, and a malformed one is refused', () => {
  const item = { type: 'function', name: 'f', inputs: [{ name: 'x', type: 'uint8' }], outputs: [] }
  assert.deepEqual(parseAbiText(JSON.stringify([item, { type: 'constructor', inputs: [] }])), [item])
  assert.deepEqual(parseAbiText(JSON.stringify({ contractName: 'F', abi: [item] })), [item])
  const hostile = [
    '',
    'null',
    '7',
    '{}',
    '[]',
    '[null]',
    '[{"type":"function"}]',
    JSON.stringify([{ ...item, name: '<img src=x>' }]),
    JSON.stringify([{ ...item, inputs: [{ name: '"><script>', type: 'uint8' }] }]),
    JSON.stringify([{ ...item, inputs: [{ name: 'x', type: 'uint8 onload=alert(1)' }] }]),
    JSON.stringify([{ ...item, inputs: [{ name: 'x', type: 'tuple' }] }]),
    JSON.stringify([{ ...item, outputs: 'x' }]),
    JSON.stringify([{ ...item, inputs: [null] }]),
    JSON.stringify(Array(2001).fill(item)),
  ]
  for (const text of hostile) assert.throws(() => parseAbiText(text), Error, text.slice(0, 80))
})
