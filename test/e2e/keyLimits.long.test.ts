import assert from 'node:assert/strict'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCairn, startCairn } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { ask, openSocket, send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Limits, usage and the access log of the keys of a server that runs. */

async function startWithKeys(
  t: { after(callback: () => void | Promise<void>): void },
  names: readonly string[],
  args: readonly string[] = [],
) {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const keys = (...words: string[]) => runCairn(['keys', ...words, '--datadir', datadir])
  const made: string[] = []
  for (const name of names) made.push((await keys('create', name)).stdout.trim())
  const server = await startCairn(t, ['--datadir', datadir, ...args])
  return { ...server, datadir, keys, made }
}

const common = await startWithKeys({ after }, ['page', 'other', 'slow', 'fast'])

const call = (method: string, params: unknown = [], id = 1) => ({ jsonrpc: '2.0', id, method, params })

test('the methods of a key are limited at once over HTTP, in batches, on sockets and for subscriptions', async (t) => {
  const { url, socketUrl, keys, made } = common
  const [page, other] = made
  const excluded = (method: string) => ({
    code: -32601,
    message: `the method ${method} does not exist/is not available: this API key may not call it`,
  })
  const socket = await openSocket(`${socketUrl}/ws/v3/${page}`)
  const subscriber = await openSocket(`${socketUrl}/ws/v3/${page}`)
  assert.match(String((await subscriber.send(call('eth_subscribe', ['newHeads']))).result), /^0x/)
  const limited = await keys('limit', 'page', '--methods', 'eth_*,!eth_getLogs,!eth_subscribe')
  assert.equal(limited.stdout, 'key 1 (page): methods eth_*,!eth_getLogs,!eth_subscribe\n')

  assert.equal((await ask(`${url}/v3/${page}`, 'eth_chainId')).result, '0x4f25')
  for (const method of ['net_version', 'eth_getLogs', 'no_such']) {
    assert.deepEqual((await ask(`${url}/v3/${page}`, method)).error, excluded(method))
  }
  assert.ok((await ask(`${url}/v3/${other}`, 'net_version')).result)
  const batch = [call('eth_chainId'), call('net_version', [], 2), call('eth_blockNumber', [], 3)]
  const answers = (await send(`${url}/v3/${page}`, batch)) as unknown as { error?: object }[]
  assert.deepEqual(
    answers.map(({ error }) => error),
    [undefined, excluded('net_version'), undefined],
  )
  assert.deepEqual((await socket.send(call('net_version'))).error, excluded('net_version'))
  assert.deepEqual((await socket.send(call('eth_subscribe', ['newHeads']))).error, excluded('eth_subscribe'))
  assert.equal(await subscriber.closed, 1008)
  await keys('limit', 'page', '--methods', '*')
  const busy = await openSocket(`${socketUrl}/ws/v3/${page}`)
  assert.match(String((await busy.send(call('eth_subscribe', ['newHeads']))).result), /^0x/)
  await keys('limit', 'page', '--methods', '!eth_subscribe')
  busy.send(call('eth_chainId')).catch(() => {}) // reads the limits before the server looks for changes
  assert.equal(await busy.closed, 1008)

  const byName = await keys('limit', 'page', '--methods', '!eth_getLogs')
  assert.match(
    byName.stderr,
    /^note: of the logs methods, the key may still call eth_getLogsWithCursor, .*; '!logs' excludes them, too\n$/,
  )
  const file = join(temporaryDirectory(t), 'keys.json')
  writeFileSync(file, (await keys('export')).stdout)
  assert.match(
    (await keys('import', file)).stderr,
    /^note: of the logs methods, key page may still call eth_getLogsWithCursor, .*; '!logs' excludes them, too\n$/,
  )
  const byClass = await keys('limit', 'page', '--methods', '!logs')
  assert.deepEqual([byClass.code, byClass.stderr], [0, ''])
  for (const method of ['eth_getLogs', 'eth_getLogsWithCursor', 'cairn_getDecodedLogs', 'eth_newFilter']) {
    assert.deepEqual((await ask(`${url}/v3/${page}`, method)).error, excluded(method))
  }
  for (const params of [['logs', {}], { name: 'logs' }]) {
    assert.deepEqual((await socket.send(call('eth_subscribe', params))).error, excluded('eth_subscribe'))
  }
  assert.match(String((await socket.send(call('eth_subscribe', ['syncing']))).result), /^0x/)
  assert.ok((await ask(`${url}/v3/${page}`, 'net_version')).result)

  await keys('limit', 'page', '--methods', '*')
  assert.equal(await socket.closed, 1008)
  const again = await openSocket(`${socketUrl}/ws/v3/${page}`)
  assert.ok((await again.send(call('net_version'))).result)
  await again.close()
})

test('the rate of a key is its own, and limits are shown and checked', async () => {
  const { url, keys } = common
  const made = common.made.slice(2)
  await keys('limit', 'slow', '--rate', '1')
  const batch = [1, 2, 3, 4, 5].map((id) => call('eth_chainId', [], id))
  await send(`${url}/v3/${made[0]}`, batch)
  const { code, message } = (await ask(`${url}/v3/${made[0]}`, 'eth_chainId')).error!
  assert.deepEqual([code, message], [-32005, 'request rate exceeded'])
  await send(`${url}/v3/${made[1]}`, batch)
  assert.ok((await ask(`${url}/v3/${made[1]}`, 'eth_chainId')).result)
  await keys('limit', 'slow', '--rate', '0', '--max-concurrent', '2')
  assert.ok((await ask(`${url}/v3/${made[0]}`, 'eth_chainId')).result)

  const list = (await keys('list')).stdout
  assert.match(list, /REVOKED {2}LIMITS/)
  assert.match(list, /slow.*2 at once/)
  const created = await keys('create', 'third', '--methods', 'net_*', '--rate', '7', '--json')
  const third = (await keys('list', '--json')).stdout
  assert.deepEqual(
    [JSON.parse(created.stdout).id, JSON.parse(third)[4].methods, JSON.parse(third)[4].rateRps],
    [5, ['net_*'], 7],
  )
  const wrong: [string[], RegExp][] = [
    [['limit', 'slow'], /expected --rate, --max-concurrent or --methods/],
    [['limit', 'slow', '--methods', 'eth call'], /--methods: expected names of methods/],
    [
      ['limit', 'slow', '--methods', '!eth_getLog'],
      /--methods: no method is named 'eth_getLog' \(did you mean eth_getLogs\?\); classes/,
    ],
    [['create', 'x', '--methods', 'log'], /no method is named 'log' \(did you mean logs\?\)/],
    [['limit', 'none', '--rate', '1'], /no key with id or name 'none'/],
    [['list', '--rate', '1'], /--rate is no option of 'cairn keys list'/],
  ]
  for (const [words, pattern] of wrong) {
    const { code: exit, stderr } = await keys(...words)
    assert.equal(exit, 2)
    assert.match(stderr, pattern)
  }
})

test('the usage of keys is counted, written when the server stops, and shown', async (t) => {
  const { url, socketUrl, keys, made, stop } = await startWithKeys(t, ['app', 'idle'])
  assert.equal((await keys('usage')).stdout, 'no usage in 30 days\n')
  const target = `${url}/v3/${made[0]}`
  await ask(target, 'eth_blockNumber')
  await send(target, [call('eth_blockNumber'), call('no_such', [], 2), call('eth_getBlockByNumber', ['0x1', 7], 3)])
  await ask(target, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x5' }])
  const socket = await openSocket(`${socketUrl}/ws/v3/${made[0]}`)
  await socket.send(call('eth_blockNumber'))
  await socket.close()
  await stop()
  const rows = JSON.parse((await keys('usage', 'app', '--json')).stdout) as { [name: string]: unknown }[]
  const today = new Date().toISOString().slice(0, 10)
  assert.deepEqual(
    rows.map(({ day, name, method, calls, errors }) => [day, name, method, calls, errors]),
    [
      [today, 'app', 'eth_blockNumber', 3, 0],
      [today, 'app', 'eth_getBlockByNumber', 1, 1],
      [today, 'app', 'eth_getLogs', 1, 0],
      [today, 'app', 'unknown', 1, 1],
    ],
  )
  const [blockNumber] = rows as { bytesIn: number; bytesOut: number; ms: number }[]
  assert.ok(blockNumber.bytesIn > 150 && blockNumber.ms > 0)
  assert.equal(blockNumber.bytesOut, 3 * '"0x4a"'.length)
  assert.match((await keys('usage')).stdout, /^ID {2}NAME {2}METHOD .*\n1 {3}app /)
  assert.equal((await keys('usage', 'idle')).stdout, 'no usage in 30 days\n')
})

test('each request leaves a line in the access log, without its key, also after the file was renamed', async (t) => {
  const log = join(temporaryDirectory(t), 'access.log')
  const { url, socketUrl, made, running, stop } = await startWithKeys(t, ['app'], ['--access-log', log])
  const target = `${url}/v3/${made[0]}`
  await ask(target, 'eth_chainId')
  await send(target, [call('eth_chainId'), call('eth_chainId', [], 2), call('no_such', [], 3)])
  await ask(`${url}/v3/${'a1b2'.repeat(8)}`, 'eth_chainId')
  await fetch(target) // GET
  await fetch(`${url}/health`)
  const socket = await openSocket(`${socketUrl}/ws/v3/${made[0]}`)
  await socket.send(call('eth_chainId'))
  await assert.rejects(openSocket(`${socketUrl}/ws/v3/${'a1b2'.repeat(8)}`))

  renameSync(log, `${log}.1`)
  running.child.kill('SIGUSR2')
  while (!existsSync(log)) await ask(target, 'net_version')
  await ask(target, 'eth_blockNumber')
  await socket.close()
  await stop()
  const text = readFileSync(`${log}.1`, 'utf8') + readFileSync(log, 'utf8')
  assert.match(readFileSync(log, 'utf8'), /eth_blockNumber/)
  assert.ok(!text.includes(made[0]))
  assert.ok(!text.includes('a1b2a'))
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ methods = [] }) => !methods.includes('net_version'))
  assert.deepEqual(
    lines.map(({ transport, key, methods, batch, status, code, errors }) => {
      return [transport, key, methods, batch, status, code, errors]
    }),
    [
      ['http', 'app', ['eth_chainId'], undefined, 200, undefined, undefined],
      ['http', 'app', ['eth_chainId', 'no_such'], 3, 200, -32601, 1],
      ['http', 'a1b2…', undefined, undefined, 401, -32002, undefined],
      ['http', 'app', undefined, undefined, 405, -32600, undefined],
      ['http', undefined, undefined, undefined, 200, undefined, undefined],
      ['ws', 'app', ['eth_chainId'], undefined, 200, undefined, undefined],
      ['ws', 'a1b2…', undefined, undefined, 401, -32002, undefined],
      ['http', 'app', ['eth_blockNumber'], undefined, 200, undefined, undefined],
    ],
  )
  const [{ time, client, bytesIn, bytesOut, ms }] = lines
  assert.match(time, /^\d{4}-\d\d-\d\dT/)
  assert.deepEqual(
    [client, bytesIn, bytesOut],
    ['127.0.0.1', JSON.stringify(call('eth_chainId')).length, '{"jsonrpc":"2.0","id":1,"result":"0x4f25"}'.length],
  )
  assert.ok(ms > 0)
})
