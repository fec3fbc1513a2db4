import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

/* What `npm start` and `npm test` do before anything else, in a small checkout of its own. In place of npm there is a
 * script that links the packages of this checkout, so that no network is needed. */

const INSTALLER = `#!/bin/sh
echo "$*" >> npm-calls
rm -rf node_modules && mkdir node_modules && ln -s "$TEST_PACKAGES"/* "$TEST_PACKAGES/.bin" node_modules/
`

interface Checkout {
  /** Runs `npm run build` in the checkout: what it says. */
  build(env?: Record<string, string>): Promise<string>
  /** The path of a file in it. */
  at(...names: string[]): string
  /** Moves it to another folder. */
  move(): void
  /** How npm was called since the last time that this was asked. */
  installs(): string[]
}

function makeCheckout(t: TestContext): Checkout {
  const folder = temporaryDirectory(t)
  let root = join(folder, 'first')
  const at = (...names: string[]) => join(root, ...names)
  mkdirSync(at('src'), { recursive: true })
  mkdirSync(at('test'))
  mkdirSync(join(folder, 'bin'))
  const configs = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.types.json', 'test/tsconfig.json']
  const scripts = ['currentNode', 'ensure', 'build', 'bundle', 'bundleEntries', 'contained'].map(
    (name) => `scripts/${name}.mjs`,
  )
  for (const name of [...configs, ...scripts]) cpSync(packagePath(name), at(name))
  for (const name of entryNames()) {
    mkdirSync(dirname(at('src', name)), { recursive: true })
    writeFileSync(at('src', name), `export const name: string = '${name}'\n`)
  }
  writeFileSync(at('src/cli/lazy.ts'), 'export const lazy = 1\n')
  writeFileSync(at('src/cli/main.ts'), "export const { lazy } = await import('./lazy.js')\n")
  writeFileSync(join(folder, 'bin', 'npm'), INSTALLER)
  chmodSync(join(folder, 'bin', 'npm'), 0o755)
  const path = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`
  const inherited = { TEST_PACKAGES: packagePath('node_modules'), PATH: path, CAIRN_MACHINE_PATH: undefined }
  return {
    at,
    async build(env = {}) {
      const { ended } = spawnProgram(process.execPath, [at('scripts/build.mjs')], { env: { ...inherited, ...env } })
      const { code, stdout, stderr } = await ended
      assert.equal(code, 0, stderr)
      return stdout + stderr
    },
    move() {
      renameSync(root, join(folder, 'second'))
      root = join(folder, 'second')
    },
    installs() {
      const calls = existsSync(at('npm-calls')) ? readFileSync(at('npm-calls'), 'utf8').trim().split('\n') : []
      rmSync(at('npm-calls'), { force: true })
      return calls
    },
  }
}

/** The files that the bundles begin with, below `src`. */
function entryNames(): string[] {
  const scripts = ['bundleEntries', 'bundle'].map((name) => readFileSync(packagePath(`scripts/${name}.mjs`), 'utf8'))
  const names = [...scripts.join().matchAll(/'(?:src\/)?([a-zA-Z0-9/]+\.ts)'/g)].map(([, name]) => name as string)
  assert.ok(names.includes('cli/main.ts'), 'the scripts name no entries')
  return [...new Set(names)]
}

test('a checkout is installed and compiled once, also when it is moved', async (t) => {
  const checkout = makeCheckout(t)
  const said = await checkout.build()
  assert.equal(checkout.installs().length, 1)
  assert.match(
    said,
    /^installing packages.*\n {2}done in \d+\.\d s\ncompiling src\/ to dist\/cli\/ \.\.\.\n {2}done in \d+/,
  )
  const built = readdirSync(checkout.at('dist/cli'))
  for (const name of ['main.js', 'main.js.map', 'readerThread.js', 'l2VerifierThread.js', 'checkpointerThread.js'])
    assert.ok(built.includes(name), `${name} is missing in ${built}`)
  assert.equal(await checkout.build(), '')
  checkout.move()
  assert.equal(await checkout.build(), '')
  assert.deepEqual(checkout.installs(), [])
})

test('what changed is done again, and nothing else', async (t) => {
  const checkout = makeCheckout(t)
  await checkout.build()
  assert.equal(checkout.installs().length, 1)

  const lateFiles = () => readdirSync(checkout.at('dist/cli')).filter((name) => /^la.*\.js$/.test(name))
  assert.match(lateFiles().join(), /^lazy-\w+\.js$/)
  renameSync(checkout.at('src/cli/lazy.ts'), checkout.at('src/cli/late.ts'))
  writeFileSync(checkout.at('src/cli/main.ts'), "export const { lazy } = await import('./late.js')\n")
  assert.match(await checkout.build(), /^compiling src/)
  assert.match(lateFiles().join(), /^late-\w+\.js$/)
  assert.deepEqual(checkout.installs(), [])

  // As a checkout that was copied from another platform has it.
  const stamp = checkout.at('node_modules/.cairn-stamp')
  const platform = `${process.platform}-${process.arch}`
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(platform, 'plan9-mips'))
  assert.match(await checkout.build(), new RegExp(`^installing packages for ${platform} `))
  assert.deepEqual(checkout.installs(), ['ci --ignore-scripts'])

  rmSync(checkout.at('node_modules'), { recursive: true })
  assert.match(await checkout.build(), /^installing packages /)
  assert.equal(checkout.installs().length, 1)
})
