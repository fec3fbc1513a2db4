import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { packagePath } from '../../src/store/open.js'
import { FEW_THREADS } from '../support/cairn.js'
import * as fixture from '../support/chains/fixtureChain.js'
import { fetchNode, PINNED_NODES } from '../support/nodes.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* The tarball that `npm pack` makes, installed into an empty project. */

const MAX_PACKED_BYTES = 6 * 2 ** 20
/** All that is installed with the package: 112 packages of 108 MB, 27 of them the sources and binaries of
 *  better-sqlite3. */
const MAX_INSTALLED_PACKAGES = 115
const MAX_INSTALLED_MEGABYTES = 110
const QUIET = ['--no-audit', '--no-fund', '--loglevel', 'error']
// As a user's shell: what npm sets for the scripts that it runs, and this test runner for its files, is not for the
// project.
const ENV = Object.fromEntries(
  Object.entries({ ...process.env, NO_COLOR: '1' }).filter(
    ([name]) => !/^(npm_|FORCE_COLOR|NODE_TEST_CONTEXT|NODE_OPTIONS|CAIRN_|INIT_CWD)/.test(name),
  ),
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
// Without install scripts: npm asks for an approval of each, and the package needs none.
run('npm', ['install', `./${packed.filename}`, '--ignore-scripts', '--prefer-offline', ...QUIET])

test('the tarball holds what runs, and neither sources nor source maps', () => {
  const paths = packed.files.map(({ path }) => path)
  for (const needed of [
    ...['LICENSE', 'README.md', 'dist/cli/main.js', 'dist/cli/readerThread.js', 'dist/types/cli/startCairn.d.ts'],
    ...[
      'fixtures/chain/genesis.json',
      'fixtures/chain/chain.rlp',
      'migrations/meta/_journal.json',
      'docs/embedding.md',
      'dist/web/index.html',
    ],
  ]) {
    assert.ok(paths.includes(needed), needed)
  }
  const unwanted = paths.filter((path) =>
    /^(src|test|scripts|build|node_modules|\.)|\.map$|\.cairn-|_snapshot/.test(path),
  )
  assert.deepEqual(unwanted, [])
  assert.ok(packed.size < MAX_PACKED_BYTES, `${packed.size} bytes`)
  const scripts = readdirSync(installed(manifest.name, 'dist', 'cli')).filter((name) => name.endsWith('.js'))
  for (const name of scripts) {
    assert.doesNotMatch(readFileSync(installed(manifest.name, 'dist', 'cli', name), 'utf8'), /^\/\/# sourceMappingURL/m)
  }
})

type Targets = string | { [condition: string]: Targets }
const filesOf = (targets: Targets): string[] =>
  typeof targets === 'string' ? [targets] : Object.values(targets).flatMap(filesOf)

test('what is installed stays within its bounds', () => {
  const packages = run('npm', ['ls', '--all', '--parseable']).trim().split('\n').length - 1
  assert.ok(packages <= MAX_INSTALLED_PACKAGES, `${packages} packages`)
  const megabytes = Number.parseInt(run('du', ['-sm', installed()]), 10)
  assert.ok(megabytes <= MAX_INSTALLED_MEGABYTES, `${megabytes} MB`)
})

test('every export is there, and has types', () => {
  const { exports } = JSON.parse(readFileSync(installed(manifest.name, 'package.json'), 'utf8')) as { exports: Targets }
  for (const target of filesOf(exports)) {
    assert.ok(readFileSync(installed(manifest.name, target)).length > 0, target)
  }
})

test('the project gets no packages for development', () => {
  for (const name of ['esbuild', 'typescript', 'viem', 'ethers', 'drizzle-kit', 'pino', 'prom-client', '@nats-io']) {
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

/** A test of a project's own, with the functions of its runner. */
const usersTest = (imports: string) => `${imports}
const cairn = startCairn()
after(async () => (await cairn).stop())

test('reads the head', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const { result } = await (await fetch((await cairn).url, request)).json()
  if (result !== '0x${fixture.HEAD.toString(16)}') throw new Error(result)
})
`

const RUNNERS = [
  {
    name: 'node:test',
    file: 'node.test.js',
    test: usersTest(`import { after, test } from 'node:test'\nimport { startCairn } from '${manifest.name}'`),
    args: ['--test', '--test-reporter', 'tap', 'node.test.js'],
    passed: /^# pass 1$/m,
  },
  {
    name: 'vitest',
    file: 'vite.test.js',
    test: usersTest(`import { afterAll as after, test } from 'vitest'\nimport { startCairn } from '${manifest.name}'`),
    args: [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--test-timeout',
      '60000',
      '--hook-timeout',
      '60000',
      'vite.test.js',
    ],
    passed: /Tests\s+1 passed/,
  },
  {
    name: 'jest with CommonJS',
    file: 'jest.test.cjs',
    test: `jest.setTimeout(60000)\nconst after = afterAll\n${usersTest(`const { startCairn } = require('${manifest.name}')`)}`,
    args: ['node_modules/jest/bin/jest.js', '--testMatch', '**/jest.test.cjs'],
    passed: /^Tests: +1 passed/m,
  },
]

test('the test runners of a project install beside the package', () => {
  // Vitest 3 and Jest 30 run on every Node below.
  run('npm', ['install', 'vitest@3.2.7', 'jest@30.5.2', '--ignore-scripts', '--prefer-offline', ...QUIET])
  for (const { file, test: text } of RUNNERS) writeFileSync(join(project, file), text)
})

const SERVER_ENV = THOROUGH ? ENV : { ...ENV, ...FEW_THREADS }

// By default the oldest one, and the newest one with its own runner.
const NODES = Object.entries(PINNED_NODES).filter((_, i, { length }) => THOROUGH || i === 0 || i === length - 1)

for (const [i, [major, version]] of NODES.entries()) {
  test(`startCairn serves the tests of a project on Node ${major}`, async (t) => {
    const node = fetchNode(version, `fetching Node ${version}`)
    const runners = THOROUGH || i === 0 ? RUNNERS : RUNNERS.slice(0, 1)
    for (const { name, args, passed } of runners) {
      await t.test(name, () => {
        const { status, stdout, stderr } = spawnSync(node, args, { cwd: project, encoding: 'utf8', env: SERVER_ENV })
        assert.equal(status, 0, `${stderr}\n${stdout}`)
        assert.match(stdout + stderr, passed)
      })
    }
  })
}

test('require loads both entries', () => {
  const script = `const { startCairn } = require('${manifest.name}'), { blocksView } = require('${manifest.name}/schema')
    console.log(typeof startCairn, typeof blocksView)`
  assert.equal(run(process.execPath, ['-e', script]), 'function object\n')
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

const USE_VIEWS = `import { type BlocksRow, blocksView } from '${manifest.name}/schema'

export function timeOf(row: BlocksRow): string | null {
  // @ts-expect-error: it is a number
  const height: string = row.number
  return row.time ?? height + String(blocksView)
}
`

for (const { module, moduleResolution, skipLibCheck } of [
  { module: 'nodenext', moduleResolution: 'nodenext', skipLibCheck: false },
  { module: 'esnext', moduleResolution: 'bundler', skipLibCheck: !THOROUGH },
]) {
  test(`the types check with moduleResolution ${moduleResolution}${skipLibCheck ? '' : ', libraries included'}`, () => {
    mkdirSync(installed('@types'), { recursive: true })
    for (const name of ['@types/node', 'undici-types']) {
      cpSync(packagePath(`node_modules/${name}`), installed(name), { recursive: true })
    }
    writeFileSync(join(project, 'use.ts'), USE)
    writeFileSync(join(project, 'useViews.ts'), USE_VIEWS)
    const strict = ['--strict', '--types', 'node', '--target', 'es2022', '--lib', 'es2022']
    const tsc = packagePath('node_modules/.bin/tsc')
    const options = ['--noEmit', '--module', module, '--moduleResolution', moduleResolution, ...strict]
    run(tsc, [...options, '--skipLibCheck', String(skipLibCheck), 'use.ts', 'useViews.ts'])
  })
}
