import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeKey } from '../../../src/decoding/storage/keys.js'
import { formatStorageLayout, parseStorageLayout, type StorageLayout } from '../../../src/decoding/storage/layout.js'
import {
  readVariable,
  readVariables,
  type StoredVariable,
  UnknownPath,
} from '../../../src/decoding/storage/variables.js'
import { bigIntToFixedBytes } from '../../../src/lib/bytes.js'
import { readContracts } from '../../support/chains/solidityContracts.js'
import { seededRandom } from '../../support/random.js'

/* Layouts of others: what is refused, and what reading them costs at most. The values are compared in
 * test/rpc/cairn/storageVariables.test.ts. */

const LAYOUT = readContracts().contracts.Cabinet.storageLayout as { storage: object[]; types: Record<string, object> }

const word = (value: bigint) => () => bigIntToFixedBytes(value, 32)

test("solc's layout is parsed, and formatted for storing without a change", () => {
  const layout = parseStorageLayout(LAYOUT)!
  assert.equal(layout.variables.length, LAYOUT.storage.length)
  assert.deepEqual(parseStorageLayout(JSON.parse(JSON.stringify(formatStorageLayout(layout)))), layout)
  assert.deepEqual(parseStorageLayout({ storage: [], types: null }), { variables: [], types: new Map() })
})

test('what is no layout is refused', () => {
  const uint = { encoding: 'inplace', label: 'uint256', numberOfBytes: '32' }
  const variable = { label: 'a', offset: 0, slot: '0', type: 't_uint256' }
  const types = { t_uint256: uint }
  assert.ok(parseStorageLayout({ storage: [variable], types }) !== undefined)
  for (const json of [
    null,
    [],
    'layout',
    {},
    { storage: 5, types },
    { storage: [variable], types: {} },
    { storage: [{ ...variable, slot: 0 }], types },
    { storage: [{ ...variable, slot: '-1' }], types },
    { storage: [{ ...variable, slot: String(2n ** 256n) }], types },
    { storage: [{ ...variable, offset: 32 }], types },
    { storage: [{ ...variable, offset: 0.5 }], types },
    { storage: [{ ...variable, label: 'a'.repeat(1_001) }], types },
    { storage: [{ ...variable, type: '__proto__' }], types },
    { storage: Array(2_001).fill(variable), types },
    { storage: [variable], types: { t_uint256: { ...uint, encoding: 'other' } } },
    { storage: [variable], types: { t_uint256: { ...uint, base: 't_none' } } },
    { storage: [variable], types: { t_uint256: { ...uint, members: [{ ...variable, type: 't_none' }] } } },
    { storage: [variable], types: { t_uint256: { ...uint, encoding: 'mapping' } } },
  ]) {
    assert.equal(parseStorageLayout(json), undefined, JSON.stringify(json)?.slice(0, 80))
  }
})

function countOf(variables: readonly StoredVariable[]): number {
  return variables.reduce((sum, { parts = [] }) => sum + 1 + countOf(parts), 0)
}

test('a layout that contains itself or is endless is cut', () => {
  const struct = (label: string, members: object[]) => ({ encoding: 'inplace', label, numberOfBytes: '32', members })
  const member = (type: string, i = 0) => ({ label: `m${i}`, offset: 0, slot: String(i), type })
  const array = (key: string) => ({ encoding: 'inplace', label: key, numberOfBytes: '32', base: 't_bool' })
  const large = `t_array(t_bool)${10n ** 70n}_storage`
  const json = {
    storage: [member('t_self'), member('t_wide', 1), member(large, 2), member('t_list', 3), member('t_text', 4)],
    types: {
      t_self: struct('self', [member('t_self'), member('t_self', 1)]),
      t_wide: struct(
        'wide',
        Array.from({ length: 1_500 }, (_, i) => member('t_bool', i)),
      ),
      t_bool: { encoding: 'inplace', label: 'bool', numberOfBytes: '0' },
      [large]: array('large'),
      t_list: { encoding: 'dynamic_array', label: 'list', numberOfBytes: '32', base: 't_list' },
      t_text: { encoding: 'bytes', label: 'text', numberOfBytes: '32' },
    },
  }
  let reads = 0
  for (const value of [0n, 1n, 2n ** 256n - 1n, 2n ** 256n - 2n]) {
    for (const variable of json.storage) {
      const layout = parseStorageLayout({ ...json, storage: [variable] })!
      const found = readVariables(layout, () => {
        reads++
        return bigIntToFixedBytes(value, 32)
      })
      assert.ok(countOf(found) <= 1_000, `${countOf(found)}`)
    }
  }
  assert.ok(reads < 10_000, `${reads}`)
  const all = readVariables(parseStorageLayout(json)!, word(0n))
  assert.ok(all[0].isCut)
  const [list] = readVariables(parseStorageLayout({ ...json, storage: [json.storage[2]] })!, word(0n))
  assert.deepEqual([list.length, list.parts!.length, list.isCut], [10n ** 70n, 100, true])
})

test('layouts and paths that are changed at random are read or refused, nothing else', () => {
  const random = seededRandom(5)
  const text = JSON.stringify(LAYOUT)
  const parts = [
    '"0"',
    '"32"',
    '"inplace"',
    '"mapping"',
    '"bytes"',
    '"t_uint256"',
    '31',
    'null',
    '[]',
    '"t_array(t_bool)9_storage"',
  ]
  let parsed = 0
  for (let i = 0; i < 400; i++) {
    const at = [...text.matchAll(/"[^"]*"(?=[,}\]])|\d+(?=,)/g)]
    const chosen = at[random.below(at.length)]
    const changed =
      text.slice(0, chosen.index) + parts[random.below(parts.length)] + text.slice(chosen.index + chosen[0].length)
    let layout: StorageLayout | undefined
    try {
      layout = parseStorageLayout(JSON.parse(changed))
    } catch (error) {
      assert.ok(error instanceof SyntaxError, String(error))
    }
    if (layout === undefined) continue
    parsed++
    const read = word(BigInt(random.below(3)) * 2n ** BigInt(random.below(250)))
    assert.ok(countOf(readVariables(layout, read)) <= 1_000)
    for (let j = 0; j < 5; j++) {
      const { label } = layout.variables[random.below(layout.variables.length)]
      const steps = ['0', '1', '-1', 'left', 'true', `0x${'12'.repeat(20)}`, '0x12345678', '', '__proto__']
      const path = [label, ...Array.from({ length: random.below(4) }, () => steps[random.below(steps.length)])]
      try {
        readVariable(layout, path, read)
      } catch (error) {
        assert.ok(error instanceof UnknownPath, String(error))
      }
    }
  }
  assert.ok(parsed > 50, `${parsed}`)
})

test('keys have 32 bytes, those of strings and bytes their own', () => {
  const inplace = (label: string, numberOfBytes: bigint) => ({ encoding: 'inplace', label, numberOfBytes }) as const
  const hex = (key: Uint8Array | string) => (typeof key === 'string' ? key : Buffer.from(key).toString('hex'))
  for (const [text, type, size, expected] of [
    ['255', 't_uint8', 1n, 'ff'.padStart(64, '0')],
    ['0xFF', 't_uint8', 1n, 'ff'.padStart(64, '0')],
    ['-1', 't_int8', 1n, 'f'.repeat(64)],
    ['0x12aB', 't_bytes2', 2n, '12ab'.padEnd(64, '0')],
    ['2', 't_enum(E)5', 1n, '2'.padStart(64, '0')],
    [`0x${'AB'.repeat(20)}`, 't_contract(C)5', 20n, 'ab'.repeat(20).padStart(64, '0')],
    ['256', 't_uint8', 1n, 'a key of type T is an integer from 0 to 255'],
    ['-129', 't_int8', 1n, 'a key of type T is an integer from -128 to 127'],
    ['', 't_uint8', 1n, 'a key of type T is an integer from 0 to 255'],
    ['0x123', 't_bytes2', 2n, 'a key of type T is 0x and 4 hex digits'],
  ] as const) {
    assert.equal(hex(encodeKey(text, type, inplace('T', size))), expected, `${type} ${text}`)
  }
  const bytes = { encoding: 'bytes', label: 'bytes', numberOfBytes: 32n } as const
  assert.equal(hex(encodeKey('0x', 't_bytes_storage', bytes)), '')
  assert.equal(hex(encodeKey('0xABcd', 't_bytes_storage', bytes)), 'abcd')
  assert.equal(hex(encodeKey('é', 't_string_storage', bytes)), 'c3a9')
})
