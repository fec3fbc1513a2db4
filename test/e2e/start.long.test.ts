import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { type Ended, spawnNode } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { temporaryDirectory } from '../support/temporary.js'

/* What a first user meets. The installation is tested in test/scripts/ensure.test.ts. */

const skip =
  (!existsSync(packagePath('node_modules/.cairn-stamp')) &&
    'not started by npm test, so that packages would be installed') ||
  (spawnSync('curl', ['--version']).error !== undefined && 'no curl')

interface Shown extends Ended {
  answer: { result: { number: string } }
}

/** Starts, pastes the line that is shown, and stops. */
async function startAndTry(t: TestContext, datadir: string): Promise<Shown> {
  const env = { CAIRN_DATADIR: datadir, CAIRN_PORT: '0' }
  const { child, ended, waitFor } = spawnNode([packagePath('scripts/start.mjs')], env)
  t.after(() => void child.kill('SIGTERM'))
  const [, line] = await waitFor('stdout', /^Try:\n([\s\S]*?)\n\nStop with Ctrl-C\.$/m)
  const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8' })
  child.kill('SIGINT')
  return { ...(await ended), answer: JSON.parse(stdout) }
}

test('npm start serves the bundled chain, and shows a line to try that works; the next start does nothing again', {
  skip,
}, async (t) => {
  const datadir = temporaryDirectory(t)
  const first = await startAndTry(t, datadir)
  assert.equal(first.code, 0, first.stderr)
  assert.equal(first.answer.result.number, `0x${HEAD.toString(16)}`)
  assert.doesNotMatch(first.stdout + first.stderr, /^(npm warn|\{)/m)

  const second = await startAndTry(t, datadir)
  assert.equal(second.code, 0, second.stderr)
  assert.equal(second.stderr, '')
  const keyOf = ({ stdout }: Ended) => /API key +([0-9a-f]{32})$/m.exec(stdout)?.[1]
  assert.ok(keyOf(first))
  assert.equal(keyOf(second), keyOf(first))
})
