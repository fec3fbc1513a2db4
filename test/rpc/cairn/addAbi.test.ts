import assert from 'node:assert/strict'
import { test } from 'node:test'
import SqliteDatabase from 'better-sqlite3'
import { grantsMethod } from '../../../src/server/access/methodPatterns.js'
import { createAbiAdder } from '../../../src/store/abiAdder.js'
import { readAddedAbis } from '../../../src/store/addedAbis.js'
import { DATABASE_FILE } from '../../../src/store/open.js'
import { runCairnOk, serveFixture, startCairn } from '../../support/cairn.js'
import { TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { ask } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const ITEMS = [
  { type: 'function', name: 'f', inputs: [], outputs: [{ name: '', type: 'bool' }], stateMutability: 'view' },
]

test('the right to add ABIs has to be named', () => {
  const method = { name: 'cairn_addAbi', classes: ['abi'] }
  for (const patterns of [['abi'], ['*', 'abi'], ['cairn_addAbi']]) assert.equal(grantsMethod(patterns, method), true)
  for (const patterns of [undefined, [], ['*'], ['cairn_*'], ['!logs'], ['!abi'], ['state']]) {
    assert.equal(grantsMethod(patterns, method), false, String(patterns))
  }
})

test('only a key that has the right adds an ABI, which is used at once', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const create = async (...args: string[]) =>
    (await runCairnOk(['keys', 'create', ...args, '--datadir', datadir])).trim()
  const keys = [
    await create('plain'),
    await create('cairn', '--methods', 'cairn_*'),
    await create('granted', '--methods', '*,abi'),
  ]
  const { url } = await startCairn(t, ['--datadir', datadir])
  const [plain, wildcard, granted] = keys.map((key) => {
    return (method: string, ...params: unknown[]) => ask(`${url}/v3/${key}`, method, params)
  })
  for (const refused of [plain, wildcard]) {
    const { error } = await refused('cairn_addAbi', 'Stone', ITEMS, TOKEN)
    assert.equal(error?.code, -32601)
    assert.match(String(error?.message), /methods name abi/)
  }
  const { result, error } = await granted('cairn_addAbi', ' Stone ', ITEMS, TOKEN)
  assert.equal(error, undefined)
  assert.equal(typeof result, 'number')
  const listed = await plain('cairn_listAbis')
  assert.deepEqual(
    (listed.result as { name: string; address: string; functions: number }[]).map(({ name, address, functions }) => {
      return [name, address, functions]
    }),
    [['Stone', TOKEN, 1]],
  )
  const again = await granted('cairn_addAbi', 'Stone', [...ITEMS, { type: 'error', name: 'E', inputs: [] }], TOKEN)
  assert.ok(Number(again.result) > Number(result))
  assert.equal(((await plain('cairn_listAbis')).result as unknown[]).length, 1, 'it replaced the first one')
  for (const [params, message] of [
    [['x'.repeat(101), ITEMS], /1 to 100 characters/],
    [['Stone', 'f()'], /expected a JSON ABI/],
    [['Stone', ITEMS, '0x12'], /address/],
  ] as const) {
    const failed = await granted('cairn_addAbi', ...params)
    assert.equal(failed.error?.code, -32602)
    assert.match(String(failed.error?.message), message)
  }
  await runCairnOk(['verify', '--datadir', datadir])
})

test('an open server adds no ABI', async (t) => {
  const { url } = await serveFixture(t)
  assert.equal((await ask(url, 'cairn_addAbi', ['Stone', ITEMS, TOKEN])).error?.code, -32601)
})

test('an ABI waits for the transaction of another writer', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const writer = new SqliteDatabase(`${datadir}/${DATABASE_FILE}`)
  t.after(() => writer.close())
  writer.exec('BEGIN IMMEDIATE')
  let isAdded = false
  const adding = createAbiAdder(datadir)({ name: 'Late', address: undefined, json: '[]', bundle: undefined }).then(
    (id) => {
      isAdded = true
      return id
    },
  )
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isAdded, false)
  writer.exec('COMMIT')
  assert.ok((await adding) > 0)
  assert.deepEqual(
    readAddedAbis(writer)
      .list()
      .map(({ name }) => name),
    ['Late'],
  )
})
