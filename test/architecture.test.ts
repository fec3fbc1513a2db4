import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../src/store/open.js'

/** The floors of docs/architecture.md: a file imports only from lower floors or from its own folder. */
const FLOORS: { readonly [folder: string]: number } = {
  lib: 0,
  chain: 1,
  store: 2,
  segments: 3,
  evm: 4,
  logs: 4,
  transactions: 4,
  ingest: 5,
  rpc: 5,
  workers: 6,
  server: 6,
  cli: 7,
}

/** An import of `to` by `from`, both paths below `src`. */
interface Import {
  from: string
  to: string
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

/** What is wrong with an import; undefined when nothing is. */
function breach({ from, to }: Import): string | undefined {
  const [above, below] = [folderOf(from), folderOf(to)]
  if (above === below) return undefined
  const [floor, other] = [FLOORS[above], FLOORS[below]]
  if (floor === undefined) return `${from}: the folder ${above} is on no floor`
  if (other === undefined) return `${from} imports ${to}, which is on no floor`
  return other < floor ? undefined : `${from} (floor ${floor}) imports ${to} (floor ${other})`
}

function folderOf(path: string): string {
  return path.split('/')[0]
}

function readImports(): Import[] {
  const root = packagePath('src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return files.flatMap((name) =>
    importsOf(readFileSync(join(root, name), 'utf8')).map((specifier) => ({
      from: name,
      to: relative(root, resolve(root, dirname(name), specifier)),
    })),
  )
}

test('every file imports only from lower floors or from its own folder', () => {
  const imports = readImports()
  assert.ok(imports.length > 50, `only ${imports.length} imports found: is src read?`)
  assert.deepEqual(
    imports.map(breach).filter((line) => line !== undefined),
    [],
  )
})

test('every folder of src is on a floor', () => {
  const folders = readdirSync(packagePath('src'))
  assert.deepEqual(folders.sort(), Object.keys(FLOORS).sort())
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
  assert.match(breach({ from: 'store/a.ts', to: 'rpc/b.js' }) ?? '', /floor 2.*floor 5/)
  assert.match(breach({ from: 'server/a.ts', to: 'workers/b.js' }) ?? '', /floor 6.*floor 6/)
  assert.equal(breach({ from: 'rpc/eth/a.ts', to: 'rpc/method.js' }), undefined)
  assert.equal(breach({ from: 'cli/a.ts', to: 'lib/b.js' }), undefined)
})
