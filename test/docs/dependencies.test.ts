import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'

type Names = { [name: string]: string }
const manifest = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
  dependencies: Names
  devDependencies: Names
}
const page = readFileSync(packagePath('docs/dependencies.md'), 'utf8')

/** Packages in the table under a heading, each with its purpose. */
function packagesUnder(heading: string): [name: string, purpose: string][] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  assert.ok(section, `no heading ${heading}`)
  return Array.from(section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm), (match) => [match[1], match[2]])
}

/** Packages that the source names in static and dynamic imports and in `require`. */
function importedPackages(folder: string, isWanted: (file: string) => boolean = () => true): Set<string> {
  const files = readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
  const names = new Set<string>()
  for (const file of files.filter((name) => /\.tsx?$/.test(name) && isWanted(name))) {
    const text = readFileSync(join(packagePath(folder), file), 'utf8')
    for (const [, specifier] of text.matchAll(/\b(?:from|import|import\(|require\() ?'([@\w][\w@/.:-]*)'/g)) {
      const [scope, name] = specifier.split('/')
      if (!isBuiltin(specifier)) names.add(scope.startsWith('@') ? `${scope}/${name}` : scope)
    }
  }
  return names
}

const namesUnder = (heading: string) => packagesUnder(heading).map(([name]) => name)

test('the page of dependencies lists those of package.json, each with a purpose', () => {
  for (const [headings, names] of [
    [['At run time'], manifest.dependencies],
    [['Bundled', 'For building and testing'], manifest.devDependencies],
  ] as const) {
    const listed = headings.flatMap(packagesUnder)
    assert.deepEqual(listed.map(([name]) => name).sort(), Object.keys(names).sort())
    for (const [name, purpose] of listed) assert.ok(purpose.length > 10, `${name} has no purpose`)
  }
})

test('the source imports every run-time and bundled dependency and nothing else', () => {
  const imported = importedPackages('src', (file) => !file.startsWith('web'))
  assert.ok(!('@duckdb/node-api' in manifest.dependencies), 'DuckDB is an optional peer, not a dependency')
  imported.delete('@duckdb/node-api')
  assert.deepEqual([...imported].sort(), [...Object.keys(manifest.dependencies), ...namesUnder('Bundled')].sort())
})

test('the built program imports no bundled package', () => {
  const files = readdirSync(packagePath('dist/cli')).filter((name) => /\.c?js$/.test(name))
  const text = files.map((name) => readFileSync(packagePath(`dist/cli/${name}`), 'utf8')).join('\n')
  const specifiers = Array.from(
    text.matchAll(/(?:from|import|require)[ (]*["']([^"'.][^"']*)["']/g),
    ([, name]) => name,
  )
  const bundled = namesUnder('Bundled').filter((name) =>
    specifiers.some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
  )
  assert.ok(specifiers.includes('better-sqlite3'), 'no import was found')
  assert.deepEqual(bundled, [])
})

test('the page is built from packages for building only', () => {
  const imported = [...importedPackages('src/web')]
  assert.deepEqual(imported.sort(), ['preact', 'uplot', 'viem'])
  for (const name of imported) assert.ok(name in manifest.devDependencies, name)
})

test('the packages that the product names are runtime dependencies', () => {
  const named = [
    '@ethereumjs/rlp',
    '@ethereumjs/vm',
    'better-sqlite3',
    'drizzle-orm',
    'ethereum-cryptography',
    'express',
    'ws',
  ]
  assert.deepEqual(
    named.filter((name) => !(name in manifest.dependencies)),
    [],
  )
})

test('versions are exact', () => {
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
  const loose = versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-r\.\d+)?$/.test(version))
  assert.deepEqual(loose, [])
})
