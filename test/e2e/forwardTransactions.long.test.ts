import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runCairn, serveFixture, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { ask, openSocket, send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const HASH = `0x${'ab'.repeat(32)}`
const CHAIN = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json'), '--open']

/** The URL of a node with the fixture chain that takes the transaction 0x02c0 and refuses others. */
let node: string
const closing: (() => unknown)[] = []
before(async () => {
  const { url } = await serveFixture({ after: (callback) => void closing.push(callback) })
  const takeTransaction = ([transaction]: string[]) =>
    transaction === '0x02c0' ? { result: HASH } : { error: { code: -32000, message: `refused by ${transaction}` } }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method, params } = JSON.parse(body)
    const answer =
      method === 'eth_sendRawTransaction'
        ? { jsonrpc: '2.0', id, ...takeTransaction(params) }
        : await send(url, JSON.parse(body))
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(async () => {
  for (const close of closing) await close()
})

test('--forward-transactions gives the answers of the upstream over HTTP, in batches and over WebSocket', async (t) => {
  const args = ['--datadir', temporaryDirectory(t), ...CHAIN, '--upstream', node]
  const server = await startCairn(t, [...args, '--forward-transactions'])
  assert.equal((await ask(server.url, 'eth_sendRawTransaction', ['0x02c0'])).result, HASH)
  const error = { code: -32000, message: 'refused by 0x02c1' }
  assert.deepEqual((await ask(server.url, 'eth_sendRawTransaction', ['0x02c1'])).error, error)
  const waited = await ask(server.url, 'eth_sendRawTransactionSync', ['0x02c0', 1])
  assert.deepEqual([waited.error?.code, waited.error?.data], [4, HASH])
  assert.deepEqual((await ask(server.url, 'eth_sendRawTransactionSync', ['0x02c1'])).error, error)
  const call = (id: number, transaction: string) => ({
    ...{ jsonrpc: '2.0', id },
    ...{ method: 'eth_sendRawTransaction', params: [transaction] },
  })
  assert.deepEqual(await send(server.url, [call(1, '0x02c1'), call(2, '0x02c0')]), [
    { jsonrpc: '2.0', id: 1, error },
    { jsonrpc: '2.0', id: 2, result: HASH },
  ])
  const socket = await openSocket(server.socketUrl)
  t.after(() => socket.close())
  assert.deepEqual(await socket.send(call(3, '0x02c0')), { jsonrpc: '2.0', id: 3, result: HASH })
})

test('without it, a server that follows an upstream forwards nothing and says why', async (t) => {
  const args = ['--datadir', temporaryDirectory(t), ...CHAIN, '--upstream', node]
  const server = await startCairn(t, args)
  const { error } = await ask(server.url, 'eth_sendRawTransaction', ['0x02c0'])
  assert.equal(error?.code, -32601)
  assert.match(error.message, /^the method eth_sendRawTransaction does not exist\/is not available: .*--forward-trans/)
})

test('it needs an upstream', async () => {
  const { code, stderr } = await runCairn(['serve', '--open', '--forward-transactions'])
  assert.deepEqual([code, stderr], [2, 'cairn: --forward-transactions needs --upstream\n'])
})
