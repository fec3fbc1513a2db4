import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { type CairnServer, runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { type ServedChain, serveRandomChain } from '../support/compare/sparseAnswers.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until, untilBlockNumber, untilValue } from '../support/until.js'
import { type ProxyFault, startChangingProxy } from '../support/upstream/changingProxy.js'
import type { UpstreamCall } from '../support/upstream/scriptedUpstream.js'
import { STATE_LIES } from '../support/upstream/stateLies.js'

/* What clients can make a server with sparse state fetch is bounded, and an upstream that hangs, fails or lacks the
 * state costs only the requests that wait for it. */

const SEED = 2
// What a request may wait, and what a busy machine adds.
const BOUND_MS = 20_000
// Fetches a second for requests.
const RATE = 300

// Endless loops, until the gas is used up. Slots 0, 1, 2, … of the account.
const WALK_SLOTS = '0x5f5b805450600101600156'
// The balances of the accounts 1 << 64, (1 << 64) + 1, ….
const WALK_ACCOUNTS = `0x68${'01'.padEnd(18, '0')}5b803150600101600a56`
// The balances of the accounts 2 << 64, ….
const WALK_OTHERS = WALK_ACCOUNTS.replace('0x6801', '0x6802')
// Balances and slots of the same numbers.
const WALK_BOTH = `0x68${'01'.padEnd(18, '0')}5b803150805450600101600a56`

// The upstream of all tests, which only read from it, behind a proxy that changes what it sends.
const chain = await serveRandomChain({ after }, SEED)
const proxy = await startChangingProxy({ after }, chain.complete.url)
const datadir = temporaryDirectory({ after })
// All tests but the last three use this server, one after the other. It follows up to here first.
const hidden = { head: chain.head - 6 }
const hiding: ProxyFault = { call: (call) => hideHead(call, hidden.head) }
proxy.fault = hiding
const server = await startSparse({ after }, datadir, ['--state-fetch', 'proofs', '--state-fetch-rate', String(RATE)])

test('the metrics count what was fetched, for blocks and for requests, and what was refused', async () => {
  await untilBlockNumber(server, hidden.head)
  const read = (name: string) => readMetric(server, name)
  assert.ok((await read('cairn_state_fetches_total{reason="block"}')) > 0)
  assert.ok((await read('cairn_state_fetched_bytes_total{reason="block"}')) > 0)
  const accounts = await read('cairn_state_fetched_accounts_total{reason="request"}')
  const slots = await read('cairn_state_fetched_slots_total{reason="request"}')
  const slot = `0x${'00'.repeat(31)}77`
  assert.equal(
    await resultOf(server.url, 'eth_getStorageAt', [unknownAddress(5), slot, 'latest']),
    `0x${'00'.repeat(32)}`,
  )
  await untilValue(
    () => read('cairn_state_fetched_accounts_total{reason="request"}'),
    (count) => count === accounts + 1,
  )
  assert.equal(await read('cairn_state_fetched_slots_total{reason="request"}'), slots)
  const refusals = await read('cairn_state_fetch_refusals_total')
  proxy.fault = {
    ...hiding,
    error: ({ method }) => (method === 'eth_getProof' ? { code: -32000, message: 'missing trie node' } : undefined),
  }
  const { error } = await ask(server.url, 'eth_getBalance', [unknownAddress(6), 'latest'])
  assert.match(String(error?.message), /is not known: .*missing trie node/)
  await untilValue(
    () => read('cairn_state_fetch_refusals_total'),
    (count) => count === refusals + 1,
  )
  proxy.fault = hiding
})

test('many clients that ask for unknown keys at once, and clients that leave', async () => {
  const leave = (i: number) => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getBalance',
      params: [unknownAddress(i), 'latest'],
    })
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.end(
      `POST / HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    socket.on('connect', () => setImmediate(() => socket.destroy()))
  }
  proxy.calls.length = 0
  for (let i = 0; i < 200; i++) leave(1_000 + i)
  const startMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 900 }, (_, i) => ask(server.url, 'eth_getBalance', [unknownAddress(2_000 + i), 'latest'])),
  )
  const seconds = (performance.now() - startMs) / 1000
  for (const { result, error } of answers) {
    if (error) assert.match(error.message, /did not send it within 10 s/)
    else assert.equal(result, '0x0')
  }
  // The first second's worth is free, and one batch may exceed it.
  const proofs = proxy.calls.filter(({ method, params }) => method === 'eth_getProof' && isUnknown(params[0])).length
  assert.ok(proofs <= RATE * (seconds + 1) + 1_100, `${proofs} proofs in ${seconds} s`)
  assert.ok(seconds > 1, 'the rate holds them up')
  await untilValue(
    () => readMetric(server, 'cairn_state_fetch_waiting'),
    (waiting) => waiting === 0,
  )
})

test('a call that walks unknown slots or accounts fetches at most 1,000, in at most ten seconds', async () => {
  const to = await findContractWithStorage(chain)
  for (const code of THOROUGH ? [WALK_SLOTS, WALK_ACCOUNTS, WALK_BOTH] : [WALK_BOTH]) {
    proxy.calls.length = 0
    const startMs = performance.now()
    const call = { to, gas: '0x989680' }
    const answer = await ask(server.url, 'eth_call', [call, 'latest', { [to]: { code } }])
    assert.ok(performance.now() - startMs < BOUND_MS)
    assert.match(
      String(answer.error?.message),
      /is not known: (the call needs more than 1000 accounts and slots that are not known|fetching what the call needs took longer than 10 s|the upstream did not send it within \d+ s)/,
    )
    assert.equal(answer.error?.code, -32000)
    const proofs = proxy.calls.filter(({ method }) => method === 'eth_getProof').length
    assert.ok(proofs <= 1_000, `${proofs} proofs`)
    assert.ok(proofs > 10, `${proofs} proofs`)
  }
  assert.equal(typeof (await resultOf(server.url, 'eth_getBalance', [to, 'latest'])), 'string')
})

test('proofs that hang do not keep other requests from being answered', async () => {
  const hung = [77, 78, 79].map(unknownAddress)
  const isHung = ({ method, params }: UpstreamCall) => method === 'eth_getProof' && hung.includes(String(params[0]))
  // Each address fails once: a failing upstream is probed by one request, which may be one that hangs.
  const failed = new Set<unknown>()
  const error = ({ method, params }: UpstreamCall) => {
    if (method !== 'eth_getProof' || failed.has(params[0])) return undefined
    failed.add(params[0])
    return { code: -32603, message: 'the database is busy' }
  }
  proxy.fault = { ...hiding, hangs: isHung, error }
  const waiting: Promise<{ error?: { message: string } }>[] = []
  let over = 0
  for (const address of hung) {
    waiting.push(ask(server.url, 'eth_getBalance', [address, 'latest']).finally(() => over++))
    // Each in a batch of its own.
    await until(() => proxy.calls.some((call) => isHung(call) && call.params[0] === address))
  }
  for (let i = 0; i < 4; i++) {
    assert.equal(await resultOf(server.url, 'eth_getBalance', [unknownAddress(100 + i), 'latest']), '0x0')
  }
  assert.equal(over, 0, 'the others were answered while they waited')
  for (const { error } of await Promise.all(waiting))
    assert.match(String(error?.message), /did not send it within 10 s/)
  proxy.fault = hiding
})

test('following continues while proofs for requests hang', async () => {
  const hung = new Set(Array.from({ length: 30 }, (_, i) => unknownAddress(200 + i)))
  const hangs = ({ method, params }: UpstreamCall) => method === 'eth_getProof' && hung.has(String(params[0]))
  proxy.fault = { ...hiding, hangs }
  const waiting = [...hung].map((address) => ask(server.url, 'eth_getBalance', [address, 'latest']))
  let over = 0
  for (const each of waiting) void each.then(() => over++)
  await until(() => proxy.calls.some(hangs))
  hidden.head = chain.head
  await untilBlockNumber(server, chain.head)
  assert.equal(over, 0, 'the head was reached while they waited')
  await Promise.all(waiting)
  proxy.fault = {}
})

test('an upstream that hangs on proofs: requests end with an error in time, all else is answered', async () => {
  proxy.fault = { hangs: ({ method }) => method === 'eth_getProof' }
  const startMs = performance.now()
  const waiting = Array.from({ length: 50 }, (_, i) =>
    ask(server.url, 'eth_getBalance', [unknownAddress(10 + i), 'latest']),
  )
  assert.equal(await resultOf(server.url, 'eth_blockNumber'), `0x${chain.head.toString(16)}`)
  assert.equal(await resultOf(server.url, 'eth_getBalance', [unknownAddress(100), 'latest']), '0x0')
  for (const { error } of await Promise.all(waiting)) {
    assert.equal(error?.code, -32000)
    assert.match(
      String(error?.message),
      /^state of 0x\w+ at block \d+ is not known: the upstream did not send it within 10 s/,
    )
  }
  assert.ok(performance.now() - startMs < BOUND_MS)
  proxy.fault = {}
  assert.equal(await resultOf(server.url, 'eth_getBalance', [unknownAddress(10), 'latest']), '0x0')
})

test('an upstream that lies to requests, without another one: the error and /health name the lie', async () => {
  proxy.fault = STATE_LIES.find(({ name }) => name === 'another leaf in an account proof')!
  const { error } = await ask(server.url, 'eth_getBalance', [unknownAddress(2), 'latest'])
  assert.match(String(error?.message), /^state of 0x\w+ at block \d+ is not known: .*: proof: account: /)
  const { problem } = (await (await fetch(`${server.url}/health`)).json()) as { problem: { check: string } }
  assert.equal(problem.check, 'proof: account')
  assert.equal(Number(await resultOf(server.url, 'eth_blockNumber')), chain.head)
  proxy.fault = {}
})

test('fetches count against the rate of the key', async (t) => {
  await server.stop()
  const created = await runCairnOk(['keys', 'create', 'page', '--rate', '2', '--datadir', datadir])
  const guarded = await startCairn(t, ['--datadir', datadir, '--upstream', chain.complete.url])
  const url = `${guarded.url}/v3/${created.trim().split('\n').at(-1)}`
  const to = await findContractWithStorage(chain)
  // Some 100 of them.
  await ask(url, 'eth_call', [{ to, gas: '0x40000' }, 'latest', { [to]: { code: WALK_OTHERS } }])
  const refused = await ask(url, 'eth_blockNumber')
  assert.equal(refused.error?.code, -32005)
  assert.match(refused.error.message, /request rate exceeded/)
  await guarded.stop()
})

test('without an upstream, an unknown value is an error that says what would work', async (t) => {
  const alone = await startCairn(t, ['--datadir', datadir, '--open'])
  const address = unknownAddress(9)
  assert.deepEqual((await ask(alone.url, 'eth_getBalance', [address, 'latest'])).error, {
    code: -32000,
    message: `state of ${address} at block ${chain.head} is not known: it was never needed before, and this server follows no --upstream from which it could be fetched`,
  })
  await alone.stop()
  const { code, stderr } = await runCairn(['verify', '--datadir', datadir])
  assert.equal(code, 0, stderr)
})

test('--offline: requests fetch nothing, and blocks what they need', async (t) => {
  proxy.fault = {}
  proxy.calls.length = 0
  const offline = await startSparse(t, temporaryDirectory(t), ['--offline'])
  await untilBlockNumber(offline, chain.head)
  const isOfState = ({ method }: { method: string }) => /^eth_getProof$|^debug_executionWitness/.test(method)
  assert.ok(proxy.calls.some(isOfState))
  proxy.calls.length = 0
  const address = unknownAddress(9)
  assert.deepEqual((await ask(offline.url, 'eth_getBalance', [address, 'latest'])).error, {
    code: -32000,
    message: `state of ${address} at block ${chain.head} is not known: this server fetches no state for requests (--offline)`,
  })
  assert.equal(proxy.calls.filter(isOfState).length, 0)
})

/** A server with sparse state of the chain, which follows the proxy. */
function startSparse(
  t: { after(callback: () => void | Promise<void>): void },
  datadir: string,
  args: readonly string[],
): Promise<CairnServer> {
  return startCairn(t, [
    ...['--datadir', datadir, '--open', '--metrics', '--genesis', chain.genesis, '--state', 'sparse'],
    ...['--from', String(chain.first), '--upstream', proxy.url, ...args],
  ])
}

async function findContractWithStorage({ complete, facts }: ServedChain): Promise<string> {
  for (const address of facts.addresses) {
    const found = await resultOf<{ storageHash: string }>(complete.url, 'eth_getProof', [address, [], 'latest'])
    if (!/^0x(56e81f17|0+$)/.test(found.storageHash)) return address
  }
  throw new Error('no contract has storage')
}

/** An address that no block touches. */
function unknownAddress(i: number): string {
  return `0x${'ad'.repeat(16)}${i.toString(16).padStart(8, '0')}`
}

function isUnknown(address: unknown): boolean {
  return String(address).startsWith(`0x${'ad'.repeat(16)}`)
}

/** The call with an earlier head in place of the newest block. */
function hideHead<T extends { method: string; params: unknown[] }>(call: T, head: number): T {
  const [first, ...rest] = call.params
  return first === 'latest' ? { ...call, params: [`0x${head.toString(16)}`, ...rest] } : call
}

async function readMetric({ url }: CairnServer, sample: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
  return Number(line?.slice(sample.length + 1))
}
