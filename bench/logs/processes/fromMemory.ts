import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/* The floor that an answer over HTTP cannot go below: a server that has nothing to do but to send a file's bytes, which
 * it holds in memory. Gets the path, answers with its port. */

process.once('message', (path: string) => {
  const body = readFileSync(path)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, headers).end(body))
  })
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
})
