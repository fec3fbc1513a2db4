import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnNode } from '../support/cairn.js'

const MAIN = fileURLToPath(new URL('../../tools/soak/main.js', import.meta.url))

test('a short soak compares subscribers and database with the chain, and ends', async () => {
  const args = ['--minutes', '0.2', '--check-minutes', '0.1', '--sample-seconds', '3', '--subscribers', '4']
  const { code, stdout, stderr } = await spawnNode(['--enable-source-maps', MAIN, ...args]).ended
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /^equal: .*"checks":1/m)
  assert.match(stdout, /^passed$/m)
})
