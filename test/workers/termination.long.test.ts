import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnNode } from '../support/cairn.js'
import { THOROUGH } from '../support/thorough.js'

const THREADS = THOROUGH ? '3000' : '150'

test(`${THREADS} threads terminated at random moments of their work do not end the process`, async () => {
  const program = fileURLToPath(new URL('../support/terminateThreads.js', import.meta.url))
  const { code, signal, stderr, stdout } = await spawnNode([program, THREADS, '2']).ended
  assert.deepEqual(
    { code, signal, stderr, stdout },
    { code: 0, signal: null, stderr: '', stdout: `terminated ${THREADS}\n` },
  )
})
