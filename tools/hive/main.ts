import { createServer, type IncomingMessage } from 'node:http'
import { parseArgs } from 'node:util'
import { messageOf } from '../../src/lib/errors.js'
import { startHiveNode } from './hiveNode.js'

/* Serves the API of hive (ethereum/hive, hivesim) as far as simulators/ethereum/engine asks for it, and prints how each
 * test ends. Nodes are processes of this machine, at addresses 127.0.1.1 and up. Build the simulator with `go build -o
 * engine .` in its folder, and start it there with HIVE_SIMULATOR=http://127.0.0.1:3000, HIVE_PARALLELISM=2 and
 * HIVE_TEST_PATTERN='engine-auth/'. geth is on the PATH: it builds the payloads, Cairn gets them. */

const USAGE = 'usage: node build/tools/hive/main.js [--port N]   N: 3000'
const CLIENT = { name: 'cairn', version: '', meta: { roles: ['eth1'] } }
// Of a node's address in a /25 of loopback.
const NODES_PER_NET = 128

const names = new Map<number, string>()
const nodes = new Map<string, () => Promise<void>>()
let lastNode = 0
// Nodes start one after another: a free port is free only until another process takes it.
let starting: Promise<unknown> = Promise.resolve()

/** The answer to a request: a route is its method and the number of parts of its path. */
async function answer({ method, url, headers }: IncomingMessage, body: Buffer): Promise<unknown> {
  const [resource, suite, , test, , node] = url!.slice(1).split('/')
  const route = `${method} ${url!.slice(1).split('/').length}`
  if (resource === 'clients') return [CLIENT]
  if (route === 'POST 1') return 1
  if (route === 'DELETE 2') return {}
  if (route === 'POST 3') {
    names.set(names.size + 1, (JSON.parse(body.toString()) as { name: string }).name)
    return names.size
  }
  if (route === 'POST 4') {
    const { pass, details } = JSON.parse(body.toString()) as { pass: boolean; details?: string }
    const failures = pass ? [] : (details ?? '').split('\n').filter((line) => line.startsWith('FAIL'))
    console.log([`${pass ? 'pass' : 'FAIL'} ${names.get(Number(test))}`, ...failures].join('\n  '))
    return {}
  }
  if (route === 'POST 5') return startNode(body, headers['content-type']!)
  if (route === 'DELETE 6') {
    await nodes.get(node)?.()
    nodes.delete(node)
    return {}
  }
  throw new Error(`${method} ${url} is not served (suite ${suite})`)
}

async function startNode(body: Buffer, contentType: string): Promise<{ id: string; ip: string }> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  const { environment } = JSON.parse(String(form.get('config'))) as { environment: { [name: string]: string } }
  const file = form.get('/genesis.json')
  if (file === null || typeof file === 'string') throw new Error('expected the file /genesis.json')
  const genesis = JSON.parse(await file.text()) as { config: object }
  const terminalTotalDifficulty = Number(environment.HIVE_TERMINAL_TOTAL_DIFFICULTY ?? 0)
  const number = ++lastNode
  const ip = `127.0.${1 + Math.floor(number / NODES_PER_NET)}.${1 + (number % NODES_PER_NET)}`
  const id = `node${number}`
  const start = () => startHiveNode({ ...genesis, config: { ...genesis.config, terminalTotalDifficulty } }, ip)
  const started = starting.then(start)
  starting = started.catch(() => {})
  nodes.set(id, await started)
  return { id, ip }
}

function main(): void {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '3000' }, help: { type: 'boolean' } } })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const server = createServer(async (request, response) => {
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    try {
      send(200, await answer(request, Buffer.concat(await request.toArray())))
    } catch (error) {
      console.error(messageOf(error))
      send(500, { error: messageOf(error) })
    }
  })
  server.listen(Number(values.port), '127.0.0.1', () => console.log(`hive's API is at http://127.0.0.1:${values.port}`))
}

main()
