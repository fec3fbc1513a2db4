import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiKeyReader } from '../../src/store/keys/apiKeys.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { ask, openSocket } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* API keys made and revoked by one process while another one serves. */

const KEY = /^[0-9a-f]{32}$/

test('keys made and revoked by another process count at once, on open sockets too', async (t) => {
  const datadir = temporaryDirectory(t)
  const fixture = packagePath('fixtures/chain')
  await runCairnOk(['import', '--datadir', datadir, '--genesis', `${fixture}/genesis.json`, `${fixture}/chain.rlp`])
  const keys = (...args: string[]) => runCairnOk(['keys', ...args, '--datadir', datadir])
  const first = (await keys('create', 'first')).trim()
  assert.match(first, KEY)
  const { url, socketUrl } = await startCairn(t, ['--datadir', datadir])
  const second = (await keys('create', 'second')).trim()
  assert.notEqual(first, second)

  const head = async (key: string) => {
    const { result, error } = await ask(`${url}/v3/${key}`, 'eth_blockNumber')
    return result ?? error
  }
  assert.deepEqual([await head(first), await head(second)], [`0x${HEAD.toString(16)}`, `0x${HEAD.toString(16)}`])
  const invalid = { code: -32002, message: 'invalid API key' }
  assert.deepEqual(await head('0'.repeat(32)), invalid)
  assert.deepEqual(await head(''), { code: -32002, message: 'API key required in the path' })

  const asking = { jsonrpc: '2.0', id: 7, method: 'eth_chainId' }
  const [silent, speaking, other] = [
    await openSocket(`${socketUrl}/ws/v3/${first}`),
    await openSocket(`${socketUrl}/ws/v3/${first}`),
    await openSocket(`${socketUrl}/ws/v3/${second}`),
  ]
  assert.equal((await speaking.send(asking)).result, '0x4f25')
  assert.equal((await keys('revoke', '1')).trim(), 'key 1 (first) is revoked')
  assert.deepEqual(await head(first), invalid)
  // The server may have closed the socket by itself before it is asked.
  await speaking.send(asking).then(
    ({ error }) => assert.deepEqual(error, invalid),
    (error: Error) => assert.match(error.message, /closed with 1008/),
  )
  const policyViolation = 1008
  assert.deepEqual([await silent.closed, await speaking.closed], [policyViolation, policyViolation])
  await assert.rejects(openSocket(`${socketUrl}/ws/v3/${first}`), /401/)
  assert.equal((await other.send(asking)).result, '0x4f25')
  assert.equal(await head(second), `0x${HEAD.toString(16)}`)
  await other.close()

  const rows = (await keys('list')).trim().split('\n')
  const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ'
  assert.equal(rows[0], 'ID  NAME    CREATED               REVOKED')
  assert.match(rows[1], new RegExp(`^1   first   ${time}  ${time}$`))
  assert.match(rows[2], new RegExp(`^2   second  ${time}  -$`))
  assert.ok(!JSON.stringify(rows).includes(second))
  const again = await runCairn(['keys', 'revoke', '1', '--datadir', datadir])
  assert.deepEqual([again.code, again.stderr], [2, 'cairn: key 1 (first) is revoked already\n'])
})

test('a key is revoked by its name, and by its id where several have the name', async (t) => {
  const datadir = temporaryDirectory(t)
  const keys = (...args: string[]) => runCairn(['keys', ...args, '--datadir', datadir])
  for (const name of ['ci', 'dashboard', 'ci', '1']) await keys('create', name)
  const revoke = async (operand: string) => {
    const { code, stdout, stderr } = await keys('revoke', operand)
    return [code, stdout + stderr]
  }
  assert.deepEqual(await revoke('dashboard'), [0, 'key 2 (dashboard) is revoked\n'])
  assert.deepEqual(await revoke('dashboard'), [2, 'cairn: key 2 (dashboard) is revoked already\n'])
  assert.deepEqual(await revoke('ci'), [2, "cairn: 2 keys are named 'ci': ids 1, 3; name one by its id\n"])
  assert.deepEqual(await revoke('1'), [0, 'key 1 (ci) is revoked\n'])
  assert.deepEqual(await revoke('ci'), [0, 'key 3 (ci) is revoked\n'])
  assert.deepEqual(await revoke('1'), [0, 'key 4 (1) is revoked\n'])
  assert.deepEqual(await revoke('daschboard'), [
    2,
    "cairn: no key with id or name 'daschboard'; see 'cairn keys list'\n",
  ])
})

test('a key is made once the long transaction of another process ends, which is waited for aloud', async (t) => {
  const datadir = temporaryDirectory(t)
  const writer = openForWriting(datadir)
  t.after(() => void writer.close())
  writer.exec('BEGIN IMMEDIATE')
  const creating = spawnCairn(['keys', 'create', 'patient', '--datadir', datadir])
  await creating.waitFor('stderr', /^waiting for the transaction of another cairn process/)
  writer.exec('COMMIT')
  const { code, stdout } = await creating.ended
  assert.equal(code, 0)
  assert.equal(createApiKeyReader(writer).find(stdout.trim())?.id, 1)
})
