import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

/** The program with packages of its own, better-sqlite3 without the binaries that came with it; its path. */
function copyProgram(t: TestContext): { program: string; binaries: string } {
  const folder = temporaryDirectory(t)
  cpSync(packagePath('dist/cli'), join(folder, 'dist', 'cli'), { recursive: true })
  cpSync(packagePath('package.json'), join(folder, 'package.json'))
  const [from, to] = [packagePath('node_modules'), join(folder, 'node_modules')]
  mkdirSync(to)
  for (const name of readdirSync(from)) if (name !== 'better-sqlite3') symlinkSync(join(from, name), join(to, name))
  const sqlite = join(to, 'better-sqlite3')
  for (const name of ['lib', 'package.json', 'prebuilds']) {
    cpSync(join(from, 'better-sqlite3', name), join(sqlite, name), { recursive: true })
  }
  return { program: join(folder, 'dist', 'cli', 'main.js'), binaries: join(sqlite, 'prebuilds') }
}

test('a binary of SQLite that cannot be loaded is reported with what would work', async (t) => {
  const { program, binaries } = copyProgram(t)
  const datadir = temporaryDirectory(t)
  const run = async () => {
    const { code, stderr } = await spawnNode([program, 'keys', 'create', 'name', '--datadir', datadir]).ended
    assert.equal(code, 1, stderr)
    assert.match(
      stderr,
      /^cairn: a native package cannot be loaded here \(\w+ \w+, Node \d+\.\d+\.\d+\): .*; install the packages on this machine again, .*\n$/,
    )
    return stderr
  }
  for (const name of readdirSync(binaries)) writeFileSync(join(binaries, name), 'of another machine')
  assert.match(await run(), new RegExp(`${binaries}.*\\.node`))
  rmSync(binaries, { recursive: true })
  assert.match(await run(), /better_sqlite3\.node/)
  assert.ok(!existsSync(binaries))
})
