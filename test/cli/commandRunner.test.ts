import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCairn, spawnCairn } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Tests run commands in a process that runs others too, and see what they would see of a process of its own. */

const withoutTimes = (text: string) => text.replaceAll(/\S+Z|in [\d.]+ s.*/g, '')

test('a command that runs after others ends, and writes, as in a process of its own', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  for (const [code, args, env] of [
    [0, ['export', 'blocks', '--format', 'ndjson', '--out', '-'], { CAIRN_DATADIR: datadir }],
    [2, ['status', '--datadir', `${datadir}/missing`], {}],
    [2, ['status', '--dirdata', datadir], {}],
  ] as const) {
    const [own, others] = [await spawnCairn(args, env).ended, await runCairn(args, env)]
    assert.deepEqual({ ...others, stderr: withoutTimes(others.stderr) }, { ...own, stderr: withoutTimes(own.stderr) })
    assert.equal(others.code, code)
  }
})

test('commands that run at the same time are apart', async () => {
  const [first, second] = await Promise.all([runCairn(['version']), runCairn(['help', 'status'])])
  assert.match(first.stdout, /^\d+\.\d+\.\d+\n$/)
  assert.match(second.stdout, /cairn status/)
})
