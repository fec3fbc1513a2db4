import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { UsageError } from '../../../src/lib/errors.js'
import { packagePath } from '../../../src/store/open.js'
import { gatherImport, readImportDirectory } from '../../../src/sync/import/importDirectory.js'
import { temporaryDirectory } from '../../support/temporary.js'

const L2 = readFileSync(packagePath('fixtures/chain/l2.ndjson'))

/** A directory with files of these names, empty but for JSON, which holds layer-2 blocks where its name says so. */
function makeDirectory(t: TestContext, names: readonly string[]): string {
  const directory = temporaryDirectory(t)
  for (const name of names) {
    const content = name.startsWith('l2') ? L2 : Buffer.from(name.includes('json') ? '{"a":1}' : '')
    writeFileSync(join(directory, name), name.endsWith('.gz') ? gzipSync(content) : content)
  }
  return directory
}

function read(t: TestContext, names: readonly string[]) {
  const { genesis, paths } = readImportDirectory(makeDirectory(t, names))
  return { genesis: genesis && basename(genesis), names: paths.map((path) => basename(path)) }
}

test('block files are taken by the numbers in their names, and nothing else is', (t) => {
  const blocks = ['mainnet-9.era1', 'mainnet-10.era1', 'mainnet-100.era1.gz', 'x.BLOCKS', 'y.rlp', 'z.blocks.gz']
  const directory = makeDirectory(t, [...blocks, 'notes.txt', 'cairn.db', '.hidden.rlp', 'checksums.txt'].reverse())
  mkdirSync(join(directory, 'a.rlp'))
  assert.deepEqual(
    readImportDirectory(directory).paths.map((path) => basename(path)),
    blocks,
  )
})

test('JSON is taken where it holds layer-2 blocks, gzipped or not', (t) => {
  const names = ['l2-2.json', 'l2-10.ndjson.gz', 'headfcu.json', 'other.ndjson', 'package.json.gz']
  assert.deepEqual(read(t, names), { genesis: undefined, names: ['l2-2.json', 'l2-10.ndjson.gz'] })
})

test('of a fixture the chain and the layer-2 blocks are taken, gzipped or not', (t) => {
  const others = ['genesis.json', 'branch.rlp', 'l2-more.ndjson']
  assert.deepEqual(read(t, [...others, 'chain.rlp']), { genesis: 'genesis.json', names: ['chain.rlp'] })
  assert.deepEqual(read(t, [...others, 'chain.rlp.gz', 'l2.ndjson.gz']), {
    genesis: 'genesis.json',
    names: ['chain.rlp.gz', 'l2.ndjson.gz'],
  })
  assert.deepEqual(read(t, [...others, 'chain.rlp', 'chain.rlp.gz', 'l2.ndjson', 'l2.ndjson.gz']).names, [
    'chain.rlp',
    'l2.ndjson',
  ])
})

test('a genesis may be alone or stand beside blocks of any name', (t) => {
  assert.deepEqual(read(t, ['genesis.json']), { genesis: 'genesis.json', names: [] })
  assert.deepEqual(read(t, ['genesis.json', '2.rlp', '1.rlp', 'l2.ndjson']), {
    genesis: 'genesis.json',
    names: ['1.rlp', '2.rlp', 'l2.ndjson'],
  })
})

test('a directory with nothing to import is refused, and so are two geneses', (t) => {
  const empty = makeDirectory(t, ['notes.txt', 'other.json'])
  assert.throws(() => readImportDirectory(empty), { message: /^\/.*: nothing to import; expected genesis\.json, or/ })
  const fixtures = [makeDirectory(t, ['genesis.json']), makeDirectory(t, ['genesis.json'])]
  assert.throws(() => gatherImport(fixtures), {
    message: /a database has one genesis; import one directory at a time$/,
  })
  assert.throws(() => gatherImport([join(empty, 'none')]), UsageError)
})

test('files and directories are imported in the order in which they are named', (t) => {
  const directory = makeDirectory(t, ['genesis.json', 'b.rlp', 'a.rlp'])
  const file = join(makeDirectory(t, ['z.rlp']), 'z.rlp')
  assert.deepEqual(gatherImport([file, directory]), {
    genesis: join(directory, 'genesis.json'),
    paths: [file, join(directory, 'a.rlp'), join(directory, 'b.rlp')],
  })
})
