import assert from 'node:assert/strict'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createOutbox } from '../../src/server/outbox.js'

test('ends the responses of a turn, texts and bytes, and one whose client is gone harms nobody', async (t) => {
  const outbox = createOutbox()
  const held: [string, ServerResponse][] = []
  let closed: () => void
  const clientGone = new Promise<void>((resolve) => {
    closed = resolve
  })
  const server = createServer((request, response) => {
    held.push([request.url!, response])
    if (request.url === '/gone') response.on('close', () => closed())
    if (held.length === 4) answer()
  })
  const answer = async () => {
    gone.destroy()
    await clientGone
    for (const [url, response] of held) {
      response.writeHead(200)
      outbox(response, url === '/bytes' ? Buffer.from([0xff, 0x30]) : `\xe9 of ${url}`)
      assert.equal(response.writableEnded, false)
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const gone = get(`${address}/gone`)
  gone.on('error', () => {})
  const bodies = await Promise.all(
    ['/a', '/bytes', '/b'].map(async (path) => Buffer.from(await (await fetch(address + path)).arrayBuffer())),
  )
  assert.deepEqual(bodies, [
    Buffer.from('\xe9 of /a', 'latin1'),
    Buffer.from([0xff, 0x30]),
    Buffer.from('\xe9 of /b', 'latin1'),
  ])
})
