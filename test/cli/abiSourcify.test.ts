import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { getAddress, keccak256, toHex } from 'viem'
import { formatData } from '../../src/lib/hex.js'
import { readAddedAbis } from '../../src/store/addedAbis.js'
import { readContractSources } from '../../src/store/contractSources.js'
import { openForReading } from '../../src/store/open.js'
import { runCairn } from '../support/cairn.js'
import { writeBundle } from '../support/chains/cabinetChain.js'
import { createGenesis, writeGenesisChain } from '../support/chains/genesisChain.js'
import { readContracts } from '../support/chains/solidityContracts.js'
import { GATE_CODE, GATE_METADATA } from '../support/solidity/gate.js'
import { temporaryDirectory } from '../support/temporary.js'

const address = (digits: string) => `0x${digits.repeat(20)}`
const [GATE, OTHER, PLAIN, EMPTY] = ['a1', 'b2', 'c3', 'd4'].map(address)

/** A chain whose genesis has the contract twice, and code without metadata. */
function writeChain(t: TestContext): Promise<string> {
  const contract = (code: string) => ({ balance: '0x0', code })
  return writeGenesisChain(
    t,
    createGenesis({ [GATE]: contract(GATE_CODE), [OTHER]: contract(GATE_CODE), [PLAIN]: contract('0x6001600255') }),
  )
}

/** Writes `metadata.json` files by path below `contracts/`. */
function writeRepository(t: TestContext, files: { readonly [path: string]: string }): string {
  const root = temporaryDirectory(t)
  for (const [path, content] of Object.entries(files)) {
    const directory = join(root, 'contracts', path)
    mkdirSync(join(directory, 'sources'), { recursive: true })
    writeFileSync(join(directory, 'metadata.json'), content)
  }
  return root
}

const add = (datadir: string, operand: string, ...more: string[]) =>
  runCairn(['abi', 'add', '--sourcify', operand, '--datadir', datadir, ...more])

const CHANGED = GATE_METADATA.replace('"runs":200', '"runs":201')

test('adds the contracts of a repository and compares them with the code', async (t) => {
  const datadir = await writeChain(t)
  const root = writeRepository(t, {
    [`full_match/1337/${getAddress(GATE)}`]: GATE_METADATA,
    [`partial_match/1337/${getAddress(GATE)}`]: CHANGED, // the full match wins
    [`full_match/1337/${OTHER}`]: CHANGED,
    [`partial_match/1337/${PLAIN}`]: GATE_METADATA,
    [`full_match/1337/${EMPTY}`]: GATE_METADATA,
    [`full_match/1/${GATE}`]: GATE_METADATA,
    'full_match/1337/0x12': GATE_METADATA, // no address
  })
  const { contracts, refused, otherChains } = JSON.parse((await add(datadir, root, '--json')).stdout)
  const without = { sourceFiles: 0, missingSources: 1, hasStorageLayout: false }
  const facts = { name: 'Gate', compiler: '0.8.37+commit.f401782d' }
  assert.deepEqual(contracts, [
    { id: 1, ...facts, address: getAddress(GATE), match: 'full', metadataMatches: true, ...without },
    { id: 2, ...facts, address: getAddress(PLAIN), match: 'partial', metadataMatches: false, ...without },
  ])
  assert.deepEqual([refused, otherChains], [{ noCode: 1, otherMetadata: 1, invalid: 0 }, 1])
  const listed = (await runCairn(['abi', 'list', '--datadir', datadir])).stdout
  assert.match(
    listed,
    /1 +Gate +0x[aA]1\w+ +1 +2 +1 .* full match, 0\.8\.37\+commit\.f401782d, matched by metadata hash\n/,
  )
  assert.match(listed, /2 +Gate +0x[cC]3\w+ +1 +2 +1 .* partial match, 0\.8\.37\+commit\.f401782d, not compared/)
  // Again: replaced, not added twice.
  assert.match(
    (await add(datadir, join(root, 'contracts'))).stdout,
    /contracts 2, matched by metadata hash 1, not compared 1/,
  )
  assert.equal(JSON.parse((await runCairn(['abi', 'list', '--json', '--datadir', datadir])).stdout).length, 2)
})

test('a partial match whose code names other metadata is not compared', async (t) => {
  const datadir = await writeChain(t)
  const root = writeRepository(t, { [`partial_match/1337/${OTHER}`]: CHANGED })
  assert.match((await add(datadir, root)).stdout, /contracts 1, matched by metadata hash 0, not compared 1/)
})

test("adds one contract's directory, by its path or ADDRESS=DIR", async (t) => {
  const datadir = await writeChain(t)
  const root = writeRepository(t, { [`full_match/1337/${GATE}`]: GATE_METADATA, elsewhere: GATE_METADATA })
  const byPath = await add(datadir, join(root, 'contracts/full_match/1337', GATE))
  assert.match(
    byPath.stdout,
    /ABI 1 \(Gate\), for 0x[aA]1\w+: full match, .*, matched by metadata hash, sources 0, missing 1\n/,
  )
  const elsewhere = join(root, 'contracts/elsewhere')
  const byAddress = await add(datadir, `${OTHER}=${elsewhere}`)
  assert.match(
    byAddress.stdout,
    /ABI 2 \(Gate\), for 0x[bB]2\w+: 0\.8\.37\+commit\.f401782d, matched by metadata hash, sources 0, missing 1\n/,
  )
  const without = await add(datadir, elsewhere)
  assert.deepEqual([without.code, /expected an address in the name/.test(without.stderr)], [2, true])
})

test('hostile bundles are refused or harmless', async (t) => {
  const datadir = await writeChain(t)
  const metadata = JSON.parse(GATE_METADATA)
  const named = {
    ...metadata,
    compiler: { version: '<b>\u001b[31m' },
    settings: { compilationTarget: { 'x.sol': '<script>alert(1)</script>' } },
  }
  const broken = { ...metadata, output: { abi: [{ type: 'event', name: 'E"; DROP', inputs: [] }] } }
  const root = writeRepository(t, {
    [`full_match/1337/${PLAIN}`]: JSON.stringify(named),
    [`full_match/1337/${GATE}`]: JSON.stringify(broken),
    [`full_match/1337/${OTHER}`]: '{"output": ',
  })
  const linked = join(root, 'contracts/partial_match/1337', PLAIN)
  mkdirSync(join(root, 'contracts/partial_match/1337'), { recursive: true })
  symlinkSync('/etc', linked)
  const { contracts, refused, firstInvalid } = JSON.parse((await add(datadir, root, '--json')).stdout)
  const [{ name, compiler }, ...others] = contracts
  assert.deepEqual([name, compiler, others, refused.invalid], ['contract', null, [], 2])
  assert.match(firstInvalid, /^0x\w{40}: /)
  for (const [operand, message] of [
    ['/nowhere', /expected metadata\.json, contracts\/full_match or contracts\/partial_match/],
    [`${GATE}=/nowhere`, /expected a directory with metadata\.json/],
  ] as const) {
    const ended = await add(datadir, operand)
    assert.deepEqual([ended.code, message.test(ended.stderr)], [2, true], ended.stderr)
  }
  assert.match((await add(temporaryDirectory(t), root)).stderr, /no database/)
})

/** What is stored of the sources of each contract, by its address. */
function storedSources(datadir: string): Map<string, { paths: string[]; layout: unknown }> {
  const db = openForReading(datadir)
  const sources = readContractSources(db)
  const found = readAddedAbis(db)
    .list()
    .map(({ id, address: bound }) => {
      const paths = sources.files(id).map(({ path, content }) => `${path}: ${content}`)
      return [formatData(bound!), { paths, layout: sources.storageLayout(id) }] as const
    })
  db.close()
  return new Map(found)
}

test('sources are stored whose hash the metadata names, and which are in the directory', async (t) => {
  const datadir = await writeChain(t)
  const root = writeRepository(t, {})
  const directory = join(root, 'contracts/partial_match/1337', PLAIN)
  const secret = join(root, 'secret.sol')
  const files: { readonly [path: string]: string } = {
    'a.sol': 'contract A {}',
    'lib/@x/b.sol': 'contract B {}',
    '/home/user/c.sol': 'contract C {}',
    'changed.sol': 'contract D {}',
    'missing.sol': 'contract E {}',
    'inline.sol': 'contract F {}',
    '../../../../../secret.sol': 'contract G {}',
    'link.sol': 'contract G {}',
    'folder/linked.sol': 'contract G {}',
    [`${'x'.repeat(253)}.sol`]: 'contract H {}',
    'large.sol': 'x'.repeat(2 ** 21),
  }
  const named = Object.entries(files).map(([path, content]) => {
    const hash = keccak256(toHex(content))
    return [path, path === 'inline.sol' ? { keccak256: hash, content } : { keccak256: hash }]
  })
  const metadata = {
    ...JSON.parse(GATE_METADATA),
    sources: { ...Object.fromEntries(named), 'odd.sol': { keccak256: 5 } },
  }
  writeBundle(directory, {
    'metadata.json': JSON.stringify(metadata),
    'storageLayout.json': JSON.stringify({ storageLayout: { storage: [], types: null } }),
    'sources/a.sol': files['a.sol'],
    'sources/lib/@x/b.sol': files['lib/@x/b.sol'],
    'sources/home/user/c.sol': files['/home/user/c.sol'],
    'sources/changed.sol': 'contract Other {}',
    'sources/large.sol': files['large.sol'],
  })
  writeFileSync(secret, 'contract G {}')
  symlinkSync(secret, join(directory, 'sources/link.sol'))
  mkdirSync(join(root, 'elsewhere'))
  writeFileSync(join(root, 'elsewhere/linked.sol'), 'contract G {}')
  symlinkSync(join(root, 'elsewhere'), join(directory, 'sources/folder'))
  const { contracts } = JSON.parse((await add(datadir, root, '--json')).stdout)
  assert.deepEqual(
    contracts.map(({ sourceFiles, missingSources, hasStorageLayout }: Record<string, unknown>) => [
      sourceFiles,
      missingSources,
      hasStorageLayout,
    ]),
    [[4, 8, true]],
  )
  const expected = ['a.sol', 'lib/@x/b.sol', '/home/user/c.sol', 'inline.sol'].map((path) => `${path}: ${files[path]}`)
  assert.deepEqual(storedSources(datadir).get(PLAIN), { paths: expected, layout: { storage: [], types: {} } })
  const { code, stdout } = await runCairn(['verify', '--datadir', datadir])
  assert.equal(code, 0, stdout)
  // Replaced and removed with their ABI.
  writeFileSync(join(directory, 'storageLayout.json'), '{"storage": 5}')
  assert.match((await add(datadir, root)).stdout, /, sources 4, missing 8\n/)
  assert.equal(storedSources(datadir).get(PLAIN)!.layout, undefined)
  await runCairn(['abi', 'remove', 'Gate', '--datadir', datadir])
  const db = openForReading(datadir)
  assert.equal(db.prepare('SELECT count(*) FROM contract_sources').pluck().get(), 0)
  db.close()
})

test('the storage layout of an artefact is stored with its ABI', async (t) => {
  const datadir = await writeChain(t)
  const { abi, storageLayout } = readContracts().contracts.Cabinet
  const file = join(temporaryDirectory(t), 'Cabinet.json')
  writeFileSync(file, JSON.stringify({ abi, storageLayout }))
  assert.equal((await runCairn(['abi', 'add', `${GATE}=${file}`, '--datadir', datadir])).code, 0)
  const { layout } = storedSources(datadir).get(GATE)!
  assert.equal((layout as { storage: unknown[] }).storage.length, 27)
})

test('a database has at most 200 contracts of bundles', async (t) => {
  const addresses = Array.from({ length: 201 }, (_, i) => `0x${(i + 1).toString(16).padStart(40, '0')}`)
  const alloc = Object.fromEntries(addresses.map((each) => [each, { balance: '0x0', code: '0x6001600255' }]))
  const datadir = await writeGenesisChain(t, createGenesis(alloc))
  const abi = { ...JSON.parse(GATE_METADATA), output: { abi: [{ type: 'event', name: 'E', inputs: [] }] } }
  const repositoryOf = (chosen: readonly string[]) =>
    writeRepository(t, Object.fromEntries(chosen.map((each) => [`full_match/1337/${each}`, JSON.stringify(abi)])))
  assert.match((await add(datadir, repositoryOf(addresses))).stderr, /expected at most 200 contracts/)
  assert.match((await add(datadir, repositoryOf(addresses.slice(0, 200)))).stdout, /contracts 200, /)
  assert.match((await add(datadir, repositoryOf(addresses.slice(100, 200)))).stdout, /contracts 100, /)
  const more = await add(datadir, repositoryOf(addresses.slice(200)))
  assert.deepEqual([more.code, /got 1 and 200 that were added before/.test(more.stderr)], [2, true])
})
