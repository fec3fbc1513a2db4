import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnNode } from '../support/cairn.js'
import { ALL, THOROUGH } from '../support/thorough.js'

/* An addon that cannot bear the end of its thread aborts the process (exit 134), so the threads are in one of their
 * own. */

const [THREADS, AT_A_TIME] = ALL ? [THOROUGH ? '3000' : '80', '2'] : ['40', '1']

test(`${THREADS} threads terminated at random moments of their work do not end the process`, async () => {
  const program = fileURLToPath(new URL('../support/terminateThreads.js', import.meta.url))
  const { code, signal, stderr, stdout } = await spawnNode([program, THREADS, AT_A_TIME]).ended
  assert.deepEqual(
    { code, signal, stderr, stdout },
    { code: 0, signal: null, stderr: '', stdout: `terminated ${THREADS}\n` },
  )
})
