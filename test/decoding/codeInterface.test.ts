import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAbiJson, hashSignature, parseAbiJson, parseSignature } from '../../src/decoding/abiItems.js'
import { itemsInCode } from '../../src/decoding/codeInterface.js'

const ITEMS = [
  'function name() view returns (string)',
  'function transfer(address to, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'error Closed()',
].map(parseSignature)

const selector = (text: string) => hashSignature(text).subarray(0, 4)

test('the functions and events that the code pushes are its interface', () => {
  const push = (bytes: Uint8Array) => [0x5f + bytes.length, ...bytes]
  const code = Uint8Array.from([
    ...push(selector('name()')),
    ...push(hashSignature('Transfer(address,address,uint256)')),
    ...push(selector('Closed()')),
  ])
  assert.deepEqual(
    itemsInCode(ITEMS, code).map(({ signature }) => signature),
    ['name()', 'Transfer(address,address,uint256)'],
  )
  assert.deepEqual(itemsInCode(ITEMS, new Uint8Array()), [])
})

test('bytes inside of other constants, and a constant that is cut off, are no selectors', () => {
  const inside = Uint8Array.from([0x65, 0x63, ...selector('name()'), 0])
  assert.deepEqual(itemsInCode(ITEMS, inside), [])
  const cut = Uint8Array.from([0x63, ...selector('name()').subarray(0, 3)])
  assert.deepEqual(itemsInCode(ITEMS, cut), [])
})

test('a selector with a leading zero byte is pushed by three bytes', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `f${i}()`)
  const name = names.find((each) => selector(each)[0] === 0 && selector(each)[1] !== 0)!
  const code = Uint8Array.from([0x62, ...selector(name).subarray(1)])
  assert.equal(itemsInCode([parseSignature(`function ${name}`)], code).length, 1)
})

test('outputs and mutability of functions are kept, and malformed ones left out', () => {
  const pair = { name: 'pair', type: 'tuple[]', components: [{ name: 'a', type: 'uint8' }] }
  const functions = [
    { type: 'function', name: 'a', inputs: [], outputs: [pair], stateMutability: 'view' },
    { type: 'function', name: 'b', inputs: [], outputs: [], stateMutability: 'payable' },
    { type: 'function', name: 'c', inputs: [] },
  ]
  assert.deepEqual(formatAbiJson(parseAbiJson(functions)), functions)
  assert.deepEqual(
    formatAbiJson(parseAbiJson([{ name: 'd', inputs: [], constant: true, outputs: [{ type: 'x y' }] }])),
    [{ type: 'function', name: 'd', inputs: [], stateMutability: 'view' }],
  )
  assert.deepEqual(
    formatAbiJson([parseSignature('function f((uint8 a, bytes b)[2] x) view returns (bool ok, address)')]),
    [
      {
        type: 'function',
        name: 'f',
        inputs: [
          {
            name: 'x',
            type: 'tuple[2]',
            components: [
              { name: 'a', type: 'uint8' },
              { name: 'b', type: 'bytes' },
            ],
          },
        ],
        outputs: [
          { name: 'ok', type: 'bool' },
          { name: '', type: 'address' },
        ],
        stateMutability: 'view',
      },
    ],
  )
})
