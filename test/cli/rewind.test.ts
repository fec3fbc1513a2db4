import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const quantity = (number: number) => `0x${number.toString(16)}`
const FIXTURE = packagePath('fixtures/chain')

async function makeFixture(t: TestContext): Promise<string> {
  const datadir = join(temporaryDirectory(t), 'data')
  await importFixture(datadir)
  return datadir
}

test('rewind removes the newest blocks beside a server, and an import brings them back', async (t) => {
  const datadir = await makeFixture(t)
  const whole = checkDatabase(datadir)
  const server = await startCairn(t, ['--open', '--datadir', datadir])
  const ask = (method: string, ...params: unknown[]) => resultOf(server.url, method, params)
  const newest = (await ask('eth_getBlockByNumber', 'finalized', false)) as { number: string; hash: string }
  assert.equal(newest.number, quantity(HEAD))
  const stdout = await runCairnOk(['rewind', '--datadir', datadir, '--to', '40'])
  assert.match(
    stdout,
    new RegExp(`^${HEAD - 40} blocks removed with \\d+ transactions and \\d+ logs; the head is block 40$`, 'm'),
  )
  assert.equal(await ask('eth_blockNumber'), '0x28')
  assert.equal(await ask('eth_getBlockByHash', newest.hash, false), null)
  assert.equal(((await ask('eth_getBlockByNumber', 'safe', false)) as { number: string }).number, '0x28')
  assert.equal(checkDatabase(datadir)?.number, 40)
  await runCairnOk(['import', '--datadir', datadir, FIXTURE])
  assert.deepEqual(checkDatabase(datadir), whole)
  assert.equal(await ask('eth_blockNumber'), quantity(HEAD))
})

test('rewind says what is wrong with its arguments, and leaves a database that is being written', async (t) => {
  const datadir = await makeFixture(t)
  const above = HEAD + 1
  for (const [args, words] of [
    [[], /--to NUMBER is needed/],
    [
      ['--to', `${above}`],
      new RegExp(`--to ${above}: cannot rewind to block ${above}: blocks 0 to ${HEAD} are available`),
    ],
    [['--to', '5', 'operand'], /unexpected operand 'operand'/],
    [['--to', '5', '--datadir', join(datadir, 'nowhere')], /no database at/],
  ] as const) {
    const { code, stderr } = await runCairn(['rewind', '--datadir', datadir, ...args])
    assert.equal(code, 2, stderr)
    assert.match(stderr, words)
  }
  const db = openForWriting(datadir)
  const { code, stderr } = await runCairn(['rewind', '--datadir', datadir, '--to', '5'])
  db.close()
  assert.equal(code, 1)
  assert.match(stderr, /is being written by another cairn process/)
  assert.equal(checkDatabase(datadir)?.number, HEAD)
})
