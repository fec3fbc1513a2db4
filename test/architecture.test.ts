import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, it, test } from 'node:test'
import { FAMILIES } from '../src/chain/eth/families/families.js'
import { packagePath } from '../src/store/open.js'

/** The floors of docs/architecture.md: a file imports only from lower floors or from its own folder. The page imports
 *  from no other folder, and none imports it. A folder within another may have a floor of its own. */
const FLOORS: { readonly [folder: string]: number } = {
  web: -1,
  lib: 0,
  wasm: 1,
  chain: 2,
  store: 3,
  trie: 4,
  workers: 4,
  evm: 5,
  decoding: 6,
  index: 6,
  export: 8,
  sources: 7,
  tokens: 7,
  rpc: 9,
  snapshots: 9,
  sql: 9,
  sync: 9,
  audit: 10,
  record: 10,
  server: 10,
  'workers/pool': 10,
  replication: 11,
  sinks: 12,
  cli: 13,
}

/** An import of `to` by `from`, both paths below `src`. */
interface Import {
  from: string
  to: string
  /** True when it imports types alone. */
  isType?: boolean
}

/** Every relative module that the text names: static, type-only, re-exported and dynamic imports, and worker files. */
function importsOf(text: string): string[] {
  const patterns = [
    /\b(?:import|export)\b[^'"`;]*?\bfrom\s*['"](\.[^'"]+)['"]/g,
    /\bimport\s*['"](\.[^'"]+)['"]/g,
    /\bimport\s*\(\s*['"](\.[^'"]+)['"]\s*\)/g,
    /\bnew URL\(\s*['"](\.[^'"]+\.js)['"]/g,
  ]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]))
}

/** True if a statement imports types alone from the module. */
function isTypeImport(text: string, specifier: string): boolean {
  const statements = text.matchAll(/^import type\s[^'"`;]*?\bfrom\s*['"](\.[^'"]+)['"]/gm)
  return [...statements].some((match) => match[1] === specifier)
}

/** What is wrong with an import; undefined when nothing is. */
function breach({ from, to }: Import): string | undefined {
  const [above, below] = [folderOf(from), folderOf(to)]
  if (above === below) return undefined
  const [floor, other] = [FLOORS[above], FLOORS[below]]
  if (floor === undefined) return `${from}: the folder ${above} is on no floor`
  if (other === undefined) return `${from} imports ${to}, which is on no floor`
  if (below === 'web') return `${from} imports ${to}, a part of the page`
  return other < floor ? undefined : `${from} (floor ${floor}) imports ${to} (floor ${other})`
}

/** The imports without those of a thread's entry that has the types of its messages from the file that starts it. */
function withoutMessageTypes(imports: readonly Import[]): Import[] {
  const isStarter = (file: string, thread: string) => imports.some(({ from, to }) => from === file && to === thread)
  return imports.filter(({ from, to, isType }) => !(isType && from.endsWith('Thread.ts') && isStarter(to, from)))
}

/** One circle through each group of files that import each other, as `a -> b -> a`. */
function findCircles(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>()
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to])
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) circles.push([...path.slice(at), file].join(' -> '))
    if (at >= 0 || done.has(file)) return
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return circles
}

/** The folder of a path that has a floor; the top folder if none has. */
function folderOf(path: string): string {
  const [top, second] = path.split('/')
  return `${top}/${second}` in FLOORS ? `${top}/${second}` : top
}

/** What of a file is SQL: statements that are prepared or run, and the words that they begin with. */
function findSql(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*/g, '')
  const patterns = [
    /\.prepare\s*[(<]/g,
    /\b(?:db|database|connection)\.exec\s*\(/g,
    /['"`\s](?:SELECT\s+[\w(*"]|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(?:TABLE|INDEX|VIEW)\s|PRAGMA\s)/g,
  ]
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([found]) => found.trim()))
}

function readImports(): Import[] {
  const root = packagePath('src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  return files.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8')
    const specifiers = importsOf(text)
    return specifiers.map((specifier) => ({
      from: name,
      to: relative(root, resolve(root, dirname(name), specifier)).replace(/\.js$/, '.ts'),
      isType: isTypeImport(text, specifier) && specifiers.filter((each) => each === specifier).length === 1,
    }))
  })
}

test('docs/architecture.md has every folder on its floor', () => {
  const rows = readFileSync(packagePath('docs/architecture.md'), 'utf8').matchAll(/^\| (\d+|–) \| (.*?) \|/gm)
  const floors = Array.from(rows).flatMap(([, floor, cell]) =>
    Array.from(cell.matchAll(/`src\/([^`]+)`/g), ([, folder]) => [folder, floor === '–' ? -1 : Number(floor)]),
  )
  assert.deepEqual(Object.fromEntries(floors), FLOORS)
})

test('every file imports only from lower floors or from its own folder', () => {
  const imports = readImports()
  assert.ok(imports.length > 50, `only ${imports.length} imports found: is src read?`)
  assert.deepEqual(
    imports.map(breach).filter((line) => line !== undefined),
    [],
  )
})

test('no files import each other in a circle, not even for types, save those of the messages of a thread', () => {
  assert.deepEqual(findCircles(withoutMessageTypes(readImports())), [])
})

test('a thread may import types from the file that starts it, and nothing else', () => {
  const start = { from: 'a.ts', to: 'aThread.ts' }
  const circle = ['a.ts -> aThread.ts -> a.ts']
  const circles = (...imports: Import[]) => findCircles(withoutMessageTypes([start, ...imports]))
  assert.deepEqual(circles({ from: 'aThread.ts', to: 'a.ts', isType: true }), [])
  assert.deepEqual(circles({ from: 'aThread.ts', to: 'a.ts', isType: false }), circle)
  assert.equal(circles({ from: 'aThread.ts', to: 'b.ts' }, { from: 'b.ts', to: 'a.ts', isType: true }).length, 1)
  assert.ok(isTypeImport("import type { A } from './a.js'", './a.js'))
  assert.ok(!isTypeImport("import { type A } from './a.js'", './a.js'))
})

test('finds the files of a circle', () => {
  const chain = ['a b', 'b c', 'c d', 'd b', 'd e'].map((edge) => ({ from: edge[0], to: edge[2] }))
  assert.deepEqual(findCircles(chain), ['b -> c -> d -> b'])
  assert.deepEqual(findCircles(chain.filter(({ to }) => to !== 'd')), [])
})

test('every folder of src is on a floor', () => {
  const folders = readdirSync(packagePath('src'))
  assert.deepEqual(
    folders.sort(),
    Object.keys(FLOORS)
      .filter((folder) => !folder.includes('/'))
      .sort(),
  )
})

test('cli alone imports replication, and sinks its connection to NATS', () => {
  const importers = readImports().filter(({ to }) => folderOf(to) === 'replication')
  assert.ok(importers.length > 50, `only ${importers.length} imports found`)
  const others = importers.filter(({ from }) => !['replication', 'cli', 'sinks'].includes(folderOf(from)))
  assert.deepEqual(others, [])
  const ofSinks = importers.filter(({ from }) => folderOf(from) === 'sinks').map(({ to }) => to)
  assert.deepEqual([...new Set(ofSinks)], ['replication/nats/connection.ts'])
})

test('finds every form of import', () => {
  const text = `
    import { a } from './a.js'
    import type { B } from '../b.js'
    import './c.js'
    export { d } from './d.js'
    const e = await import('./e.js')
    type F = import('./f.js').F
    new Worker(new URL('./g.js', import.meta.url))
    import {
      h,
    } from './h.js'
    import { join } from 'node:path'`
  assert.deepEqual(importsOf(text).sort(), [
    '../b.js',
    './a.js',
    './c.js',
    './d.js',
    './e.js',
    './f.js',
    './g.js',
    './h.js',
  ])
})

test('refuses an import from above and from a neighbour on the same floor', () => {
  assert.match(breach({ from: 'store/a.ts', to: 'rpc/b.js' }) ?? '', /floor 3.*floor 9/)
  assert.match(breach({ from: 'server/a.ts', to: 'workers/pool/b.js' }) ?? '', /floor 10.*floor 10/)
  assert.equal(breach({ from: 'rpc/eth/a.ts', to: 'rpc/method.js' }), undefined)
  assert.equal(breach({ from: 'cli/a.ts', to: 'lib/b.js' }), undefined)
})

test('SQL is in store alone', () => {
  const root = packagePath('src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = files.flatMap((name) => findSql(readFileSync(join(root, name), 'utf8')).map((sql) => ({ name, sql })))
  assert.ok(found.length > 100, `only ${found.length} pieces of SQL found: is src read?`)
  assert.deepEqual(
    found.filter(({ name }) => folderOf(name) !== 'store').map(({ name, sql }) => `${name}: ${sql}`),
    [],
  )
})

test('finds SQL, but not in comments', () => {
  const text = `
    const select = db.prepare<[], number>('SELECT 1')
    db.exec('BEGIN')
    const sql = \`
      DELETE FROM logs\`
    /** SELECT a block. */
    // db.prepare('PRAGMA data_version')
    const match = pattern.exec(text)`
  assert.deepEqual(findSql(text).sort(), ["'SELECT 1", '.prepare<', 'DELETE FROM', 'db.exec('])
})

/** Small vocabularies, each used within its room: instructions of WebAssembly, tables of the schema, kinds of option
 *  values and fields. */
const VOCABULARIES = [
  /^wasm\/assembler\.ts$/,
  /^store\/schema\/\w+\.ts$/,
  /^cli\/options\/rows\.ts$/,
  /^chain\/starknet\/recording\/fields\.ts$/,
]

test('no two exported things have one name', () => {
  const root = packagePath('src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('web') && !VOCABULARIES.some((pattern) => pattern.test(name)),
  )
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    const exported = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)\b(?!.* = define\w*Method\()/gm
    for (const [, name] of readFileSync(join(root, file), 'utf8').matchAll(exported)) {
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
  assert.ok(places.size > 1000, `only ${places.size} exported names found`)
  assert.deepEqual(
    [...places].filter(([, where]) => where.size > 1),
    [],
  )
})

describe('families of chains', () => {
  const FOLDER = 'chain/eth/families/'
  /** What other folders may import: everything asks the family of a chain. */
  const PUBLIC = ['addedType', 'addedTypes', 'families', 'family', 'name', 'networks']
  /** Files of one family that others need: types of its rules, and a format of its own that the command line reads. */
  const NAMED: { readonly [file: string]: readonly string[] } = {
    'bft/bftRules': ['chain/eth/forks/rules.ts'],
    'gnosis/gnosisRules': ['chain/eth/forks/rules.ts'],
    'op/opRules': ['chain/eth/forks/rules.ts'],
    'op/rollupConfig': ['sync/import/importFiles.ts'],
  }

  it('are known by name only to their folder', () => {
    const found = readImports()
      .filter(({ from, to }) => to.startsWith(FOLDER) && !from.startsWith(FOLDER))
      .map(({ from, to }) => ({ from, file: to.slice(FOLDER.length).replace(/\.ts$/, '') }))
      .filter(({ from, file }) => !PUBLIC.includes(file) && !NAMED[file]?.includes(from))
    assert.deepEqual(found, [])
  })

  it('are not compared elsewhere', () => {
    const root = packagePath('src')
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
    const named = FAMILIES.map(({ name }) => name).join('|')
    const pattern = new RegExp(`\\bfamily(Of\\([^)]*\\))?(\\??\\.name)?\\s*[!=]==?\\s*['"](${named})['"]`)
    const compared = names
      .filter((name) => !name.startsWith(FOLDER))
      .filter((name) => pattern.test(readFileSync(join(root, name), 'utf8')))
    assert.deepEqual(compared, [])
  })
})
