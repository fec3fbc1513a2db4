import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDraftBlsRunner, createStateCaseRunner, runFolder } from '../../support/chains/stateTest.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'

test('gives the state root and the logs of every tenth official state test', async (t) => {
  const folder = sharedPath('state-tests', 'GeneralStateTests')
  if (folder === undefined) return t.skip(String(SKIP_SHARED))
  const { count, failures } = runFolder(folder, await createStateCaseRunner(), 10)
  assert.deepEqual(failures, [])
  assert.ok(count > 2000, `only ${count} cases found`)
})

test('computes on BLS12-381 as every tenth official test of the draft of EIP-2537 says', (t) => {
  const folder = sharedPath('state-tests', 'EIPTests')
  if (folder === undefined) return t.skip(String(SKIP_SHARED))
  const { count, failures } = runFolder(folder, createDraftBlsRunner(), 10)
  assert.deepEqual(failures, [])
  assert.equal(count, 280)
})
