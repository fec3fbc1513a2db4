import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../src/lib/errors.js'
import { startCairn } from '../../test/support/cairn.js'
import { freePort } from '../../test/support/freePort.js'
import { serveWithGeth } from '../../test/support/upstream/geth.js'

// The ports and the secret that hive's simulators expect (simulators/ethereum/engine/globals).
const RPC_PORT = 8545
const ENGINE_PORT = 8551
const SECRET = Buffer.from('secretsecretsecretsecretsecretse')

// What geth answers: it builds the payloads, and has the transactions for them.
const OF_GETH = /^engine_getPayload(V\d)$|^engine_getBlobs|^eth_sendRawTransaction$|^eth_getTransactionByHash$/
// What geth hears, too, so that it builds on the same head.
const OF_BOTH = /^engine_(newPayload|forkchoiceUpdated)/

interface Reply {
  readonly status: number
  readonly text: string
}

type Json = { readonly [name: string]: unknown }

/** Starts Cairn on a genesis, with a geth beside it that builds payloads, both as one node at an address of loopback.
 *  @returns what ends it */
export async function startHiveNode(genesis: Json, ip: string): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-hive-'))
  const endings: (() => void | Promise<void>)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const end = async () => {
    for (const each of endings.splice(0).reverse()) await each()
  }
  try {
    const t = { after: (callback: () => void | Promise<void>) => void endings.push(callback) }
    const path = (name: string) => join(folder, name)
    writeFileSync(path('genesis.json'), JSON.stringify(genesis))
    writeFileSync(path('jwt.hex'), SECRET.toString('hex'))
    mkdirSync(path('geth'))
    const [gethPort, cairnPort] = [await freePort(), await freePort()]
    const [gethUrl, cairn] = await Promise.all([
      serveWithGeth(t, {
        datadir: path('geth'),
        genesis: path('genesis.json'),
        args: ['--syncmode=full', `--authrpc.port=${gethPort}`, `--authrpc.jwtsecret=${path('jwt.hex')}`],
      }),
      startCairn(t, [
        ...['--open', '--datadir', path('cairn'), '--genesis', path('genesis.json'), '--compat', 'geth'],
        ...['--engine', String(cairnPort), '--jwt-secret', path('jwt.hex')],
      ]),
    ])
    await forward(t, { ip, port: RPC_PORT, cairn: cairn.url, geth: gethUrl })
    const engines = { cairn: `http://127.0.0.1:${cairnPort}`, geth: `http://127.0.0.1:${gethPort}` }
    await forward(t, { ip, port: ENGINE_PORT, ...engines })
    return end
  } catch (error) {
    await end()
    throw error
  }
}

/** Serves an address for Cairn, and asks geth for what Cairn does not do. */
async function forward(
  t: { after(callback: () => void): void },
  { ip, port, cairn, geth }: { ip: string; port: number; cairn: string; geth: string },
): Promise<void> {
  const server = createServer(async (request, response) => {
    const reply = await answer(request).catch((error) => ({ status: 500, text: messageOf(error) }))
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.text)
  })
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const text = Buffer.concat(await request.toArray()).toString()
    const post = async (url: string, body: string): Promise<Reply> => {
      const { authorization } = request.headers
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
      const response = await fetch(url, { method: 'POST', headers, body })
      return { status: response.status, text: await response.text() }
    }
    const call = JSON.parse(text) as { method?: string; params?: unknown[] }
    const method = call.method ?? ''
    if (OF_GETH.test(method)) return post(geth, text)
    const [state, attributes] = call.params ?? []
    const builds = method.startsWith('engine_forkchoiceUpdated') && attributes
    const own = await post(cairn, builds ? JSON.stringify({ ...call, params: [state, null] }) : text)
    if (!OF_BOTH.test(method)) return own
    const other = await post(geth, text)
    return builds ? withPayloadId(own, other) : own
  }
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, ip, resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
}

/** Cairn's answer to a fork choice with geth's payload id, or geth's error about the attributes. */
function withPayloadId(own: Reply, other: Reply): Reply {
  if (own.status !== 200 || other.status !== 200) return own
  const [answer, built] = [JSON.parse(own.text), JSON.parse(other.text)]
  if (!answer.result) return own
  if (built.error) return other
  const isValid = answer.result.payloadStatus.status === 'VALID'
  return {
    ...own,
    text: JSON.stringify({
      ...answer,
      result: { ...answer.result, payloadId: isValid ? built.result.payloadId : null },
    }),
  }
}
