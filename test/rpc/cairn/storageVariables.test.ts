import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type Abi, type AbiFunction, type Address, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { METHODS } from '../../../src/rpc/methods.js'
import { type CairnServer, runCairnOk, startCairn } from '../../support/cairn.js'
import {
  CABINET,
  CABINET_ABI,
  CABINET_PROXY,
  cabinetBundle,
  writeBundle,
  writeCabinetChain,
} from '../../support/chains/cabinetChain.js'
import { endOfFile } from '../../support/endings.js'
import { ask, resultOf } from '../../support/rpcClient.js'
import { validatorOf } from '../../support/schemas.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Variables by storage layout, compared with the getters that solc made, and the sources of a bundle. */

const ending = endOfFile()
let server: CairnServer

before(async () => {
  const datadir = temporaryDirectory(ending)
  await writeCabinetChain(datadir)
  const bundle = temporaryDirectory(ending)
  writeBundle(join(bundle, 'cabinet'), cabinetBundle())
  const added = await runCairnOk([
    ...['abi', 'add', '--sourcify', `${CABINET}=${join(bundle, 'cabinet')}`, '--datadir', datadir],
  ])
  assert.match(added, /matched by metadata hash, sources 1, storage layout\n/)
  server = await startCairn(ending, ['--datadir', datadir, '--open'])
})

interface Variable {
  name: string
  type: string
  slot: Hex
  offset: number
  value: string | boolean | null
  parts?: Variable[]
  length?: Hex
  keyType?: string
  isCut: boolean
}

async function variables(address: Address, block: string, ...path: string[]): Promise<Variable[]> {
  const params = [address, block, path]
  const found = await resultOf<Variable[]>(server.url, 'cairn_getStorageVariables', params)
  assert.deepEqual(validatorOf(METHODS.get('cairn_getStorageVariables')!.result.schema)(found), [])
  return found
}

const variable = async (address: Address, block: string, ...path: string[]) =>
  (await variables(address, block, ...path))[0]

/** A value as text, nested ones as lists. */
type Text = string | boolean | readonly Text[]

/** What a getter returns. */
async function getter(address: Address, block: string, name: string, ...args: unknown[]): Promise<Text> {
  const item = CABINET_ABI.find((each): each is AbiFunction => each.type === 'function' && each.name === name)!
  const abi: Abi = [item]
  const data = encodeFunctionData({ abi, functionName: name, args })
  const output = await resultOf<Hex>(server.url, 'eth_call', [{ to: address, data }, block])
  return textOf(decodeFunctionResult({ abi, functionName: name, data: output }))
}

function textOf(value: unknown): Text {
  if (typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(textOf)
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf)
  return String(value)
}

function textsOf({ value, parts, isCut, name }: Variable): Text {
  assert.equal(isCut, false, name)
  return parts === undefined ? value! : parts.map(textsOf)
}

const PLACES = [
  [CABINET, '0x1'],
  [CABINET, '0x2'],
  [CABINET_PROXY, '0x3'],
  [CABINET_PROXY, '0x2'], // it has no values yet
] as const

test('variables have the values of their getters, of a proxy and at any block', async () => {
  const plain = 'whole negative small flag keeper colour selector word title story blob pair peer'.split(' ')
  const seen = new Set<string>()
  for (const [address, block] of PLACES) {
    const all = new Map((await variables(address, block)).map((each) => [each.name, each]))
    for (const name of plain) {
      const value = textsOf(all.get(name)!)
      assert.deepEqual(value, await getter(address, block, name), `${name} at ${block}`)
      assert.deepEqual(await variable(address, block, name), all.get(name))
      seen.add(JSON.stringify(value))
    }
    // The layout does not have the type below a user-defined one.
    const price = textsOf(all.get('price')!)
    assert.match(String(price), /^0x[0-9a-f]{32}$/)
    assert.equal(String(BigInt(String(price))), await getter(address, block, 'price'))
    for (const [name, counts] of [
      ['fixedSmall', [5]],
      ['fixedWide', [2]],
      ['grid', [2, 3]],
    ] as const) {
      const values = textsOf(all.get(name)!) as Text[]
      assert.equal(values.length, counts[0])
      for (let i = 0; i < counts[0]; i++) {
        if (counts.length === 1) assert.equal(values[i], await getter(address, block, name, i))
        else
          for (let j = 0; j < counts[1]; j++)
            assert.equal((values[i] as Text[])[j], await getter(address, block, name, i, j))
      }
    }
    const [id, pair, sizes, label, isOpen] = (await getter(address, block, 'boxParts')) as Text[]
    const { parts } = all.get('box')!
    assert.deepEqual(parts!.slice(0, 4).map(textsOf), [id, pair, sizes, label])
    assert.equal((await variable(address, block, 'box', 'opened', '7')).value, isOpen)
  }
  assert.ok(seen.size > 35, `${seen.size} values`)
})

test('dynamic arrays have their length and elements', async () => {
  for (const [address, block] of PLACES.slice(0, 3)) {
    for (const name of ['list', 'pairs', 'names']) {
      const array = await variable(address, block, name)
      assert.equal(array.length, '0x5')
      for (const [i, each] of (textsOf(array) as Text[]).entries()) {
        assert.deepEqual(each, await getter(address, block, name, i))
        assert.deepEqual(textsOf(await variable(address, block, name, String(i))), each)
      }
    }
  }
  assert.deepEqual(textsOf(await variable(CABINET_PROXY, '0x2', 'list')), [])
})

test('values of mappings are found by keys of every type', async () => {
  for (const [address, block] of PLACES.slice(0, 3)) {
    const [keeper, selector, title] = await Promise.all(
      ['keeper', 'selector', 'title'].map(async (name) => String(await getter(address, block, name))),
    )
    const compared: [path: string[], args: unknown[]][] = [
      [['balances', keeper], [keeper]],
      [
        ['nested', keeper, selector],
        [keeper, selector],
      ],
      [['byName', title], [title]],
      [
        ['byColour', '1', '0'],
        [1, 0n],
      ],
      [['byFlag', 'true'], [true]],
      [['byFlag', 'false'], [false]],
      [['bySigned', '-3'], [-3]],
      [['bySigned', '3'], [3]],
    ]
    for (const [[name, ...keys], args] of compared) {
      const found = await variable(address, block, name, ...keys)
      assert.deepEqual(textsOf(found), await getter(address, block, name, ...args), `${name} ${keys}`)
      assert.equal(found.name, keys.at(-1))
    }
    const mapping = await variable(address, block, 'nested', keeper)
    assert.deepEqual([mapping.value, mapping.keyType, mapping.parts], [null, 'bytes4', undefined])
  }
})

test('a path that leads nowhere is refused with what would work', async () => {
  for (const [path, message] of [
    [['nothing'], /no variable 'nothing'/],
    [['balances', '0x12'], /balances: a key of type address is 0x and 40 hex digits/],
    [['byFlag', '1'], /a key of type bool is true or false/],
    [['bySigned', '40000'], /a key of type int16 is an integer from -32768 to 32767/],
    [['nested', CABINET, '0x1234'], /a key of type bytes4 is 0x and 8 hex digits/],
    [['byColour', '256'], /an integer from 0 to 255/],
    [['list', '5'], /list: uint40\[\] has no '5'/],
    [['pair', 'middle'], /pair: struct Cabinet\.Pair has no 'middle'/],
    [['whole', '0'], /whole: uint256 has no '0'/],
  ] as const) {
    const { error } = await ask(server.url, 'cairn_getStorageVariables', [CABINET, 'latest', path])
    assert.equal(error?.code, -32602)
    assert.match(error!.message, message)
  }
  const long = await ask(server.url, 'cairn_getStorageVariables', [CABINET, 'latest', Array(17).fill('0')])
  assert.match(long.error!.message, /expected at most 16 steps/)
  const other = await resultOf(server.url, 'cairn_getStorageVariables', [`0x${'12'.repeat(20)}`])
  assert.equal(other, null)
})

test('sources and layout are those of the bundle, of a proxy too', async () => {
  const files = cabinetBundle()
  for (const address of [CABINET, CABINET_PROXY]) {
    const found = await resultOf<{ name: string; files: object[]; storageLayout: { storage: { label: string }[] } }[]>(
      server.url,
      'cairn_getContractSources',
      [address],
    )
    assert.deepEqual(validatorOf(METHODS.get('cairn_getContractSources')!.result.schema)(found), [])
    assert.deepEqual(
      found.map(({ name, files: own }) => [name, own]),
      [['Cabinet', [{ path: 'Cabinet.sol', content: files['sources/Cabinet.sol'] }]]],
    )
    const labels = JSON.parse(files['storageLayout.json']).storage.map(({ label }: { label: string }) => label)
    assert.deepEqual(
      found[0].storageLayout.storage.map(({ label }) => label),
      labels,
    )
  }
  assert.deepEqual(await resultOf(server.url, 'cairn_getContractSources', [`0x${'12'.repeat(20)}`]), [])
  const [abi] = await resultOf<{ sourceFiles: number; hasStorageLayout: boolean }[]>(server.url, 'cairn_listAbis')
  assert.deepEqual([abi.sourceFiles, abi.hasStorageLayout], [1, true])
})
