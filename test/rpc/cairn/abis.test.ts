import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAbi, toEventHash, toFunctionSelector } from 'viem'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { runCairnOk } from '../../support/cairn.js'
import { createStateGenesis } from '../../support/chains/stateChain.js'
import { callMethod } from '../../support/compare/traces.js'
import { temporaryDirectory } from '../../support/temporary.js'

const [MINIMAL, TARGET, PLAIN] = ['a1', 'b2', 'c3'].map((digits) => `0x${digits.repeat(20)}`)
const MINIMAL_CODE = `0x363d3d373d3d3d363d73${TARGET.slice(2)}5af43d82803e903d91602b57fd5bf3`
const TARGET_CODE = `0x63${toFunctionSelector('balanceOf(address)').slice(2)}00`

interface Abi {
  implementations: string[]
  abis: { name: string; address: string | null; isBuiltIn: boolean; items: { name: string }[] }[]
}

interface Signature {
  type: string
  signature: string
  hash: string
  abi: string
  address: string | null
}

async function openChain(t: { after(end: () => void): void }) {
  const datadir = temporaryDirectory(t)
  const sender = createSender('abis')
  const genesis = createStateGenesis(sender) as { alloc: { [address: string]: object } }
  const account = (code: string) => ({ balance: '0x0', nonce: '0x1', code })
  Object.assign(genesis.alloc, { [MINIMAL]: account(MINIMAL_CODE), [TARGET]: account(TARGET_CODE) })
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  await builder.add({ transactions: [] })
  db.close()
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  return { datadir, ask: <T>(method: string, ...params: unknown[]) => callMethod<T>(context, method, params) }
}

test('the ABIs of a contract are its own, those of its implementation, and what the code names of others', async (t) => {
  const { datadir, ask } = await openChain(t)
  const write = (name: string, lines: string[]) => {
    const path = join(datadir, `${name}.json`)
    writeFileSync(path, JSON.stringify(parseAbi(lines)))
    return path
  }
  assert.deepEqual(await ask('cairn_listAbis'), [])
  const own = write('Own', ['function upgrade(address to)'])
  const target = write('Target', ['function secret() view returns (uint8)', 'error Closed(uint8 code)'])
  const any = write('Any', ['function balanceOf(address who) view returns (uint256)', 'function other()'])
  await runCairnOk(['abi', 'add', `${MINIMAL}=${own}`, `${TARGET}=${target}`, any, '--datadir', datadir])
  const { implementations, abis } = await ask<Abi>('cairn_getAbi', MINIMAL)
  assert.deepEqual(implementations, [TARGET])
  assert.deepEqual(
    abis.map(({ name, address, isBuiltIn, items }) => [name, address, isBuiltIn, items.map((item) => item.name)]),
    [
      ['Own', MINIMAL, false, ['upgrade']],
      ['Target', TARGET, false, ['secret', 'Closed']],
      ['Any', null, false, ['balanceOf']],
      ['erc20', null, true, ['balanceOf']],
    ],
  )
  assert.deepEqual(abis[1].items[0], {
    type: 'function',
    name: 'secret',
    inputs: [],
    outputs: [{ name: '', type: 'uint8' }],
    stateMutability: 'view',
  })
  assert.deepEqual(await ask('cairn_getAbi', PLAIN), { implementations: [], abis: [] })
  const listed =
    await ask<{ name: string; address: string | null; functions: number; errors: number }[]>('cairn_listAbis')
  assert.deepEqual(
    listed.map(({ name, address, functions, errors }) => [name, address, functions, errors]),
    [
      ['Own', MINIMAL, 1, 0],
      ['Target', TARGET, 1, 1],
      ['Any', null, 2, 0],
    ],
  )
})

test('signatures are found by name, selector and topic, exact ones first, added ones before built-in ones', async (t) => {
  const { datadir, ask } = await openChain(t)
  const path = join(datadir, 'Mine.json')
  writeFileSync(
    path,
    JSON.stringify(parseAbi(['function transferAll()', 'function transfer(address to, uint256 value)'])),
  )
  await runCairnOk(['abi', 'add', `${TARGET}=${path}`, '--datadir', datadir])
  const find = (...params: unknown[]) => ask<Signature[]>('cairn_findSignatures', ...params)
  const found = await find('TRANSFER')
  assert.deepEqual(found[0], {
    type: 'function',
    name: 'transfer',
    signature: 'transfer(address,uint256)',
    hash: toFunctionSelector('transfer(address,uint256)'),
    abi: 'Mine',
    address: TARGET,
  })
  const names = found.map(({ signature }) => signature.replace(/\(.*/, '').toLowerCase())
  assert.ok(names.lastIndexOf('transfer') < names.indexOf('transferall'), names.join())
  assert.ok(names.indexOf('transferall') < names.indexOf('transferfrom'), names.join())
  const topic = toEventHash('Transfer(address,address,uint256)')
  for (const [text, signature] of [
    [topic, 'Transfer(address,address,uint256)'],
    [topic.slice(0, 12), 'Transfer(address,address,uint256)'],
    [toFunctionSelector('transferAll()'), 'transferAll()'],
    ['transfer(address,uint256)', 'transfer(address,uint256)'],
  ]) {
    assert.equal((await find(text))[0].signature, signature)
  }
  assert.equal((await find('transfer', 1)).length, 1)
  for (const text of ['', ' ', 'constructor', '__proto__', '0x12345678', formatData(new Uint8Array(32))]) {
    assert.deepEqual(await find(text), [], text)
  }
})
