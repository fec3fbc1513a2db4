import { createServer, type Server } from 'node:http'
import { createHostCheck, type HostPolicy } from '../access/hosts.js'
import { HOST_REFUSED } from '../http/httpServer.js'
import { normalizeTarget } from '../http/requestTarget.js'
import { type AdminOptions, createAdminApp } from './adminApp.js'

/** Concurrent connections: a few scrapers and probes, and a browser. */
const MAX_CONNECTIONS = 64

/** Time limit for receiving a request. */
const REQUEST_MS = 10_000

/** A server for `/metrics`, `/health` and `/ready` only; not listening yet. */
export function createAdminServer({ hosts, ...options }: AdminOptions & { hosts: HostPolicy }): Server {
  const app = createAdminApp(options)
  const isServedHost = createHostCheck(hosts)
  const server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, (request, response) => {
    normalizeTarget(request)
    if (isServedHost(request.headers.host)) return void app(request, response)
    response.writeHead(403, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: HOST_REFUSED.message }))
  })
  server.maxConnections = MAX_CONNECTIONS
  return server
}
