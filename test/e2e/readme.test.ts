import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { serveFixture, spawnProgram } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

const HAS_CURL = spawnSync('curl', ['--version']).status === 0
const skip = HAS_CURL ? false : 'needs curl'

test("the README's first request works when it is pasted into a shell", { skip }, async (t) => {
  const readme = readFileSync(packagePath('README.md'), 'utf8')
  const [, pasted, shown] = /^```sh\n(KEY=[\s\S]*?)^```\s+^```json\n([\s\S]*?)^```/m.exec(readme)!
  const { url } = await serveFixture(t)
  const cwd = temporaryDirectory(t)
  mkdirSync(join(cwd, 'data'))
  // As `npm start` leaves it; this server takes any key.
  assert.match(readFileSync(packagePath('scripts/start.mjs'), 'utf8'), /join\(datadir, 'start-key'\)/)
  writeFileSync(join(cwd, 'data', 'start-key'), `${'0'.repeat(32)}\n`)
  assert.ok(pasted.includes('http://127.0.0.1:8545/'))
  const script = pasted.replace('http://127.0.0.1:8545', url)
  const { code, stdout, stderr } = await spawnProgram('/bin/sh', ['-c', script], { cwd }).ended
  assert.equal(code, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), JSON.parse(shown))
})
