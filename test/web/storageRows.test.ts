import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StorageVariable } from '../../src/web/client/storageTypes.js'
import { showInvisible, storageRows } from '../../src/web/storageRows.js'

const variable = (name: string, more: Partial<StorageVariable> = {}): StorageVariable => ({
  ...{ name, type: 'uint256', slot: '0x0', offset: 0, value: name, isCut: false },
  ...more,
})

test('parts and looked up values follow what they belong to, with their paths', () => {
  const variables = [
    variable('pair', { value: null, parts: [variable('left'), variable('right')] }),
    variable('grid', {
      value: null,
      length: '0x1',
      parts: [variable('0', { value: null, length: '0x2', parts: [variable('0'), variable('1')] })],
    }),
    variable('map', { value: null, keyType: 'address' }),
    variable('last'),
  ]
  const looked = [
    { path: ['2', '0xaa'], variable: variable('0xaa', { value: null, keyType: 'bool' }) },
    { path: ['2', '0xaa', 'true'], variable: variable('true', { value: null, parts: [variable('left')] }) },
    { path: ['2', '0xbb'], variable: variable('0xbb') },
  ]
  const rows = storageRows(variables, looked)
  assert.deepEqual(
    rows.map(({ label, path }) => [label, path.join('/')]),
    [
      ['pair', '0'],
      ['pair.left', '0/left'],
      ['pair.right', '0/right'],
      ['grid', '1'],
      ['grid[0]', '1/0'],
      ['grid[0][0]', '1/0/0'],
      ['grid[0][1]', '1/0/1'],
      ['map', '2'],
      ['map[0xaa]', '2/0xaa'],
      ['map[0xaa][true]', '2/0xaa/true'],
      ['map[0xaa][true].left', '2/0xaa/true/left'],
      ['map[0xbb]', '2/0xbb'],
      ['last', '3'],
    ],
  )
})

test('characters that turn the direction of text or are invisible are shown', () => {
  const source = 'if (a) {\n\treturn b; // \u202e } \u200b\u0000 \u2066 é 汉 😀\r\n}'
  const shown = showInvisible(source)
  assert.equal(shown, 'if (a) {\n\treturn b; // \\u{202e} } \\u{200b}\\u{0} \\u{2066} é 汉 😀\r\n}')
})
