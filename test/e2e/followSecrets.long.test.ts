import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { runCairn, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { openFixtureAnswers } from '../support/chains/fixtureAnswers.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startScriptedUpstream } from '../support/upstream/scriptedUpstream.js'

/* Credentials of upstreams in all that is printed, logged and served, while upstreams send them back in every kind of
 * answer. */

const GENESIS = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
const SECRETS = {
  user: 'alice4711',
  password: 'hunter2hunter',
  key: 'b2e5c3f1a09d4e76b2e5c3f1a09d4e76',
  token: 'abc987abc987',
  header: 'tiptop-secret',
}
const HEADER = ['--upstream-header', `Authorization: Bearer ${SECRETS.header}`]
const BASIC = Buffer.from(`${SECRETS.user}:${SECRETS.password}`).toString('base64')

const { answers } = await openFixtureAnswers({ after })

/** The address with every secret in it. */
function withSecrets(url: string): string {
  const [scheme, rest] = url.split('//')
  return `${scheme}//${SECRETS.user}:${SECRETS.password}@${rest}/v3/${SECRETS.key}?token=${SECRETS.token}`
}

function requireNoSecrets(texts: { [name: string]: string }): void {
  for (const [name, text] of Object.entries(texts)) {
    for (const secret of [...Object.values(SECRETS), BASIC]) assert.ok(!text.includes(secret), `${name}: ${text}`)
  }
}

type Respond = (response: ServerResponse, text: string, request: IncomingMessage) => void
const json = { 'content-type': 'application/json' }

/** Echoes everything that an upstream can read from a request. */
const echo = ({ url, headers }: IncomingMessage) =>
  `refused ${url} ${JSON.stringify(headers)} ${Object.values(SECRETS)}`

/** An answer with the error to each call. */
const refuse = (text: string, code: number, message: string) => {
  const parsed = JSON.parse(text) as { id: number } | { id: number }[]
  const errorOf = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, error: { code, message } })
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(errorOf) : errorOf(parsed))
}

const TALKATIVE: Respond[] = [
  (response, _, request) => response.writeHead(401, { 'content-type': 'text/plain' }).end(echo(request)),
  (response, _, request) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${echo(request)}</p>`),
  (response, _, request) =>
    response.writeHead(307, { location: `http://127.0.0.1:1${request.url}` }).end(echo(request)),
  (response, _, request) => response.writeHead(200, json).end(`{"${echo(request)}`),
  (response, text, request) => response.writeHead(200, json).end(refuse(text, -32000, echo(request))),
  (response, text, request) => response.writeHead(200, json).end(refuse(text, -32005, echo(request))),
  (response, _, request) =>
    response.writeHead(502, { 'x-request': encodeURIComponent(echo(request)) }).end(echo(request)),
  (response) => response.destroy(),
]

test('credentials of upstreams are in nothing that a server writes or serves, whatever the upstream answers', async (t) => {
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  let said = 0
  upstream.fault = {
    name: 'is talkative',
    respond: (response, text, request) => {
      const respond = TALKATIVE[said++]
      if (respond) respond(response, text, request)
      else response.writeHead(200, json).end(text)
    },
  }
  const file = join(temporaryDirectory(t), 'cairn.log')
  const options = ['--open', '--metrics', '--log-level', 'debug', '--log-file', file, ...HEADER]
  const args = ['--datadir', temporaryDirectory(t), ...GENESIS, '--upstream', withSecrets(upstream.url), ...options]
  const { url, stop } = await startCairn(t, args)
  const read = async (path: string) => (await fetch(`${url}${path}`)).text()
  for (let head = -1; head < HEAD; ) {
    requireNoSecrets({ health: await read('/health'), metrics: await read('/metrics') })
    const answer = await ask(url, 'eth_blockNumber')
    requireNoSecrets({ answer: JSON.stringify(answer) })
    head = Number(answer.result ?? -1)
    await delay(20)
  }
  assert.ok(said >= TALKATIVE.length)
  const { stdout, stderr } = await stop()
  const log = readFileSync(file, 'utf8')
  assert.match(log, /a request to the upstream failed/)
  requireNoSecrets({ stdout, stderr, log })
})

test('credentials are in no message of cairn sync that ends, or that cannot begin', async (t) => {
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  const sync = (address: string, ...rest: string[]) =>
    runCairn(['sync', '--datadir', temporaryDirectory(t), '--upstream', address, '--log-level', 'debug', ...rest])
  const other = await sync(withSecrets(upstream.url), '--network', 'hoodi', ...HEADER)
  assert.match(other.stderr, /chain id: expected 560048/)
  const scheme = await sync(withSecrets('ftp://127.0.0.1'), ...GENESIS)
  const header = await sync(withSecrets(upstream.url), ...GENESIS, '--upstream-header', `no colon ${SECRETS.header}`)
  const value = await sync(withSecrets(upstream.url), ...GENESIS, '--upstream-header', `X-Key: ${SECRETS.header}\u0001`)
  assert.deepEqual([other.code, scheme.code, header.code, value.code], [1, 2, 2, 2])
  for (const { stdout, stderr } of [other, scheme, header, value]) requireNoSecrets({ stdout, stderr })
})

for (const scheme of ['http', 'ws']) {
  test(`credentials are in no message about an ${scheme} upstream that cannot be reached`, async (t) => {
    const upstream = withSecrets(`${scheme}://127.0.0.1:1`)
    const args = ['sync', '--datadir', temporaryDirectory(t), ...GENESIS, ...HEADER, '--log-level', 'debug']
    const sync = spawnCairn(args, { CAIRN_UPSTREAM: upstream })
    await sync.waitFor('stderr', /no upstream can be asked/)
    sync.child.kill('SIGTERM')
    const { code, stdout, stderr } = await sync.ended
    assert.equal(code, 0, stderr)
    requireNoSecrets({ stdout, stderr })
  })
}
