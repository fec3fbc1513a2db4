import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import * as fixture from '../support/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The tarball that `npm pack` makes, installed into an empty project. */

const MAX_PACKED_BYTES = 6 * 2 ** 20
const QUIET = ['--no-audit', '--no-fund', '--loglevel', 'error']
// As a user's shell: what npm sets for the scripts that it runs, and this test runner for its files, is not for the project.
const ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_TEST_CONTEXT|NODE_OPTIONS|CAIRN_|INIT_CWD)/.test(name)),
)

const project = temporaryDirectory({ after })
const installed = (...names: string[]) => join(project, 'node_modules', ...names)

/** Runs a program in the project; what it wrote to standard output. It must end well. */
function run(command: string, args: readonly string[], cwd = project): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env: ENV })
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error ?? ''}\n${stderr}\n${stdout}`)
  return stdout
}

const packing = ['pack', '--json', '--ignore-scripts', '--pack-destination', project, ...QUIET]
const [packed] = JSON.parse(run('npm', packing, packagePath('.'))) as {
  filename: string
  size: number
  files: { path: string }[]
}[]
const manifest = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
  name: string
  version: string
  dependencies: { [name: string]: string }
}
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'application', private: true, type: 'module' }))
// Scripts would compile better-sqlite3 for minutes: it gets the addon that the same version has here.
run('npm', ['install', `./${packed.filename}`, '--ignore-scripts', '--prefer-offline', ...QUIET])
const ADDON = ['better-sqlite3', 'build', 'Release', 'better_sqlite3.node']
cpSync(packagePath(join('node_modules', ...ADDON)), installed(...ADDON))

test('the tarball holds what runs, and neither sources nor source maps', () => {
  const paths = packed.files.map(({ path }) => path)
  for (const needed of [
    ...['LICENSE', 'README.md', 'dist/cli/main.js', 'dist/cli/readerThread.js', 'dist/types/cli/startCairn.d.ts'],
    ...[
      'fixtures/chain/genesis.json',
      'fixtures/chain/chain.rlp',
      'migrations/meta/_journal.json',
      'docs/ci.md',
      'dist/web/index.html',
    ],
  ]) {
    assert.ok(paths.includes(needed), needed)
  }
  const unwanted = paths.filter((path) =>
    /^(src|test|scripts|build|node_modules|\.)|\.map$|cairn-stamp|_snapshot/.test(path),
  )
  assert.deepEqual(unwanted, [])
  assert.ok(packed.size < MAX_PACKED_BYTES, `${packed.size} bytes`)
  const scripts = readdirSync(installed(manifest.name, 'dist', 'cli')).filter((name) => name.endsWith('.js'))
  for (const name of scripts) {
    assert.doesNotMatch(readFileSync(installed(manifest.name, 'dist', 'cli', name), 'utf8'), /^\/\/# sourceMappingURL/m)
  }
})

test('every export is there, and has types', () => {
  const { exports } = JSON.parse(readFileSync(installed(manifest.name, 'package.json'), 'utf8')) as {
    exports: { [path: string]: string | { types: string; default: string } }
  }
  for (const target of Object.values(exports).flatMap((each) =>
    typeof each === 'string' ? each : Object.values(each),
  )) {
    assert.ok(readFileSync(installed(manifest.name, target)).length > 0, target)
  }
})

test('the project gets no packages for development', () => {
  for (const name of ['esbuild', 'typescript', 'viem', 'ethers', 'drizzle-kit']) {
    assert.ok(!readdirSync(installed()).includes(name), name)
  }
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const found = JSON.parse(readFileSync(installed(name, 'package.json'), 'utf8')) as { version: string }
    assert.equal(found.version, version, name)
  }
})

test('npx runs the program', () => {
  assert.equal(run('npx', ['--no-install', 'cairn', 'version']), `${manifest.version}\n`)
})

test("startCairn serves a project's node:test", () => {
  writeFileSync(
    join(project, 'chain.test.js'),
    `import assert from 'node:assert/strict'
    import { after, test } from 'node:test'
    import { startCairn } from '${manifest.name}'

    const cairn = await startCairn()
    after(cairn.stop)

    test('reads the head', async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
      const response = await fetch(cairn.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      assert.equal((await response.json()).result, '0x${fixture.HEAD.toString(16)}')
    })`,
  )
  assert.match(run(process.execPath, ['--test', '--test-reporter', 'tap', 'chain.test.js']), /^# pass 1$/m)
})

test('the typed views are queried with drizzle', () => {
  writeFileSync(
    join(project, 'views.js'),
    `import Database from 'better-sqlite3'
    import { count } from 'drizzle-orm'
    import { drizzle } from 'drizzle-orm/better-sqlite3'
    import { blocksView } from '${manifest.name}/schema'
    const db = drizzle(new Database('data/cairn.db', { readonly: true }))
    console.log(db.select({ blocks: count() }).from(blocksView).get().blocks)`,
  )
  run('npx', ['--no-install', 'cairn', 'import', '--log-level', 'error', packagePath('fixtures/chain')])
  assert.equal(run(process.execPath, ['views.js']), `${fixture.HEAD + 1}\n`)
})

const USE = `import { CairnFailed, type StartedCairn, type StartOptions, startCairn } from '${manifest.name}'

export async function use(options: StartOptions): Promise<string | undefined> {
  const cairn: StartedCairn = await startCairn({ ...options, fixture: 'x', port: 0 })
  await cairn.stop()
  // @ts-expect-error: it is a string
  const port: number = cairn.url
  return cairn.apiKey ?? String(port) + CairnFailed.name
}
`

// drizzle's own declarations do not check without the drivers of all databases.
const USE_VIEWS = `import { blocksView } from '${manifest.name}/schema'

export const time: string | null = null as typeof blocksView.$inferSelect.time
// @ts-expect-error: it is a number
export const height: string = 0 as typeof blocksView.$inferSelect.number
`

for (const { module, moduleResolution } of [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
]) {
  test(`the types check with moduleResolution ${moduleResolution}, libraries included`, () => {
    mkdirSync(installed('@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types']) {
      cpSync(packagePath(`node_modules/${name}`), installed(name), { recursive: true })
    }
    writeFileSync(join(project, 'use.ts'), USE)
    writeFileSync(join(project, 'useViews.ts'), USE_VIEWS)
    const strict = ['--strict', '--types', 'node', '--target', 'es2022', '--lib', 'es2022']
    const tsc = packagePath('node_modules/.bin/tsc')
    const options = ['--noEmit', '--module', module, '--moduleResolution', moduleResolution, ...strict]
    run(tsc, [...options, '--skipLibCheck', 'false', 'use.ts'])
    run(tsc, [...options, '--skipLibCheck', 'useViews.ts'])
  })
}
