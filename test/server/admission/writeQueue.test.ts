import assert from 'node:assert/strict'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createWriteQueue } from '../../../src/server/admission/writeQueue.js'

test('ends the responses of a turn, texts and bytes; one whose client is gone affects no other', async (t) => {
  const writeQueue = createWriteQueue()
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
      writeQueue(() => void response.end(url === '/bytes' ? Buffer.from([0xff, 0x30]) : `\xe9 of ${url}`, 'latin1'))
      // The first one of the turn was the only one, as far as was known.
      assert.equal(response.writableEnded, response === held[0][1])
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

test('after a turn with several, all wait for its end; after one with a single one, the first does not', async () => {
  const writeQueue = createWriteQueue()
  const written: string[] = []
  const put = (...names: string[]) => {
    for (const name of names) writeQueue(() => void written.push(name))
    return written.join('')
  }
  const turn = () => new Promise(setImmediate)
  assert.equal(put('a', 'b', 'c'), 'a')
  await turn()
  assert.equal(written.join(''), 'abc')
  assert.equal(put('d'), 'abc')
  await turn()
  assert.equal(written.join(''), 'abcd')
  assert.equal(put('e', 'f'), 'abcde')
  await turn()
  assert.equal(written.join(''), 'abcdef')
})
