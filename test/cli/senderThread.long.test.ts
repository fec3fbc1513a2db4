import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeBusyChain } from '../../bench/evm/busyChain.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { runCairnOk, spawnCairn } from '../support/cairn.js'
import { checkDatabase, digestDatabase } from '../support/compare/checkDatabase.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'

// Full blocks with `npm run test:thorough`.
const [BLOCKS, MGAS] = [6, THOROUGH ? 30 : 6]

test('an import stores the same with --sender-thread on and off, and after it was stopped at random moments', async (t) => {
  const { chain } = await makeBusyChain('ether transfers', {
    blocks: BLOCKS,
    mgas: MGAS,
    directory: temporaryDirectory(t),
  })
  const argsFor = (datadir: string) => ['import', '--datadir', datadir, '--genesis', chain.genesis!, chain.path]
  const contentOf = (datadir: string) => [checkDatabase(datadir), digestDatabase(datadir)]
  const without = temporaryDirectory(t)
  await runCairnOk([...argsFor(without), '--sender-thread', 'off'])
  const wanted = contentOf(without)
  assert.equal(checkDatabase(without)!.number, BLOCKS)
  const whole = temporaryDirectory(t)
  await runCairnOk(argsFor(whole))
  assert.deepEqual(contentOf(whole), wanted)

  const random = seededRandom(1)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    const datadir = temporaryDirectory(t)
    const { child, ended } = spawnCairn(argsFor(datadir))
    await until(() => existsSync(join(datadir, DATABASE_FILE)))
    const timer = setTimeout(() => child.kill(signal), random.below(1500))
    const { code, stderr } = await ended
    clearTimeout(timer)
    assert.ok(
      code === 0 || code === { SIGTERM: 143, SIGINT: 130, SIGKILL: null }[signal],
      `${signal}: ${code} ${stderr}`,
    )
    await runCairnOk(argsFor(datadir))
    assert.deepEqual(contentOf(datadir), wanted)
  }
})
