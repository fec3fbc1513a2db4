import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { REVERTER } from '../support/chains/fixtureChain.js'
import { openRaw } from '../support/rawHttp.js'
import { resultOf } from '../support/rpcClient.js'

test('signals that come together, as those of Ctrl-C below npm do, stop the server in order', async (t) => {
  const { url, running } = await serveFixture(t, [
    '--call-timeout',
    '1000',
    '--gas-cap',
    '100000',
    '--max-call-gas',
    '100000',
  ])
  const { socket, next } = await openRaw(t, url)
  const params = [{ to: REVERTER, data: '0xf0acd7d5', gas: '0x174876e800' }, 'latest'] // does not end
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params })
  socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`)
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
  await resultOf(url, 'eth_blockNumber') // so that the server has the call

  const between = new Int32Array(new SharedArrayBuffer(4))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
    running.child.kill(signal)
    Atomics.wait(between, 0, 0, 2) // or the system makes one signal of those that are pending
  }
  assert.match((await next())!.body, /execution aborted/)
  const { code, signal, stderr } = await running.ended
  assert.equal(signal ?? code, 0, stderr)
})
