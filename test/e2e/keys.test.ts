import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
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
  assert.deepEqual([await head(first), await head(second)], ['0x3c', '0x3c'])
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
  assert.equal((await keys('revoke', '1')).trim(), 'key 1 is revoked')
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
  assert.equal(await head(second), '0x3c')
  await other.close()

  const rows = (await keys('list'))
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  assert.deepEqual(
    rows.slice(1).map(([id, name, , revoked]) => [id, name, revoked === '-']),
    [
      ['1', 'first', false],
      ['2', 'second', true],
    ],
  )
  assert.ok(!JSON.stringify(rows).includes(second))
  const again = await runCairn(['keys', 'revoke', '1', '--datadir', datadir])
  assert.deepEqual([again.code, again.stderr], [2, "cairn: no live key with id 1; see 'cairn keys list'\n"])
})
