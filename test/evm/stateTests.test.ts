import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sharedPath } from '../support/shared.js'
import { createStateCaseRunner, readStateCases } from '../support/stateTest.js'

/** How many cases there are below a folder, and what is wrong with those that fail. */
async function runFolder(folder: string): Promise<{ count: number; failures: string[] }> {
  const run = await createStateCaseRunner()
  const failures: string[] = []
  let count = 0
  for (const testCase of readStateCases(folder)) {
    count++
    const failure = run(testCase)
    if (failure !== undefined) failures.push(`${testCase.name}: ${failure}`)
  }
  return { count, failures }
}

test('gives the state root and the logs of every official state test', async (t) => {
  const folder = sharedPath('state-tests', 'GeneralStateTests')
  if (folder === undefined) return t.skip('no shared data beside the repository')
  const { count, failures } = await runFolder(folder)
  assert.deepEqual(failures, [])
  assert.ok(count > 2000, `only ${count} cases found`)
})
