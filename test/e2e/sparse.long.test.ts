import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { type CairnServer, runCairnOk, startCairn } from '../support/cairn.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { compareFrom, type Peer, reachHead, startTraffic, type Traffic } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'

/* `--state sparse`: begun at a block of a running geth without state, followed through reorgs, and compared with the
 * archive that geth keeps: what blocks touched, what no block touched, calls, traces, proofs. */

const FEW = THOROUGH ? 60 : 15

// The other mode by default: sparseWhole.
for (const mode of THOROUGH ? ['witness', 'proofs', 'auto'] : ['witness']) {
  test(`sparse state, by ${mode}: every answer since the first block is that of an archive`, {
    skip: SKIP_GETH,
  }, async (t) => {
    const peer = await startGethPeer(t)
    const traffic = await startTraffic(peer)
    await traffic.mine(FEW)
    const before = Number(await resultOf<string>(peer.url, 'eth_blockNumber'))
    const datadir = temporaryDirectory(t)
    const server = await startSparse(t, peer, datadir, mode)
    // The newest block, which may be a later one than before.
    const [began, first] = [await reachHead(server, peer), await stateFirst(server)]
    assert.ok(before <= first && first <= began, `${before} <= ${first} <= ${began}`)
    await traffic.mine(FEW)
    await reachHead(server, peer)
    await peer.reorg(5)
    await traffic.mine(7)
    const head = await reachHead(server, peer)
    assert.equal(await stateFirst(server), first)
    t.diagnostic(`first ${first}, head ${head}`)
    // The state before the first block is not available, and a base row is of the first block.
    await compareFrom(first + 1, { server, peer, datadir, traffic, asksAt: (number) => asksAt(number, first, traffic) })
    await traffic.mine(20)
    await reachHead(server, peer)
    await compareFrom(head - 10, { server, peer, datadir, traffic, asksAt: (number) => asksAt(number, first, traffic) })
  })
}

test('away for longer than a full geth keeps states: the gap has logs, the state begins again, and nothing is guessed', {
  skip: SKIP_GETH,
}, async (t) => {
  // The last of a repeated option counts. An archive beside it has the right answers.
  const peer = await startGethPeer(t, ['--gcmode=full', '--state.scheme=path', '--history.state=1'])
  const traffic = await startTraffic(peer)
  await traffic.mine(20)
  const datadir = temporaryDirectory(t)
  const away = await startSparse(t, peer, datadir, 'proofs')
  await traffic.mine(20)
  const last = await reachHead(away, peer)
  const first = await stateFirst(away)
  const known = await Promise.all(traffic.loggers.map((to) => callAt(away, to, last)))
  await away.stop()
  await traffic.mine(160)
  const server = await startSparse(t, peer, datadir, 'proofs')
  await reachHead(server, peer)
  await traffic.mine(30)
  const head = await reachHead(server, peer)
  const again = await stateFirst(server)
  assert.ok(again > last + 100 && again < head, `${first} to ${last}, from ${again} to ${head}`)
  // The state after the gap, at all its heights; logs and blocks everywhere.
  for (let number = again + 1; number <= head; number += 5) await compareAt(number, { server, peer, traffic })
  const filter = [{ fromBlock: formatQuantity(first + 1), toBlock: formatQuantity(head) }]
  assert.deepEqual(await resultOf(server.url, 'eth_getLogs', filter), await resultOf(peer.url, 'eth_getLogs', filter))
  // The closed interval answers what it knew, the gap says that it has no state.
  assert.deepEqual(await Promise.all(traffic.loggers.map((to) => callAt(server, to, last))), known)
  assert.match(
    JSON.stringify(await callAt(server, traffic.loggers[0], last + 20)),
    /historical state \d+ is not available/,
  )
  const never = `0x${'5e'.repeat(20)}`
  const unknown = await ask(server.url, 'eth_getBalance', [never, formatQuantity(last)])
  assert.match(JSON.stringify(unknown), /is not known/)
  assert.deepEqual((await ask(server.url, 'eth_getBalance', [never, formatQuantity(again)])).result, '0x0')
  await server.stop()
  assert.match(await runCairnOk(['verify', '--datadir', datadir]), /^state: roots of \d+ blocks, /m)
})

/** Fails unless calls and slots at the block are the peer's now: geth has pruned the states of old blocks. */
async function compareAt(
  number: number,
  { server, peer, traffic }: { server: CairnServer; peer: Peer; traffic: Traffic },
): Promise<void> {
  const block = formatQuantity(number)
  for (const { method, params } of asksAt(number, 0, traffic).filter((each) => !each.method.startsWith('debug_'))) {
    const [own, wanted] = await Promise.all([server.url, peer.url].map((url) => ask(url, method, params)))
    assert.deepEqual(
      own.result,
      wanted.result,
      `${method} ${JSON.stringify(params)} at ${block}: ${JSON.stringify(own)}`,
    )
  }
}

async function callAt({ url }: CairnServer, to: string, number: number): Promise<unknown> {
  const { result, error } = await ask(url, 'eth_call', [{ to }, formatQuantity(number)])
  return result ?? error
}

function startSparse(t: TestContext, peer: Peer, datadir: string, mode: string): Promise<CairnServer> {
  const follows = ['--open', '--network', 'dev', '--state', 'sparse', '--state-fetch', mode, '--upstream', peer.wsUrl]
  return startCairn(t, ['--datadir', datadir, ...follows])
}

async function stateFirst({ url }: CairnServer): Promise<number> {
  const { coverage } = (await (await fetch(`${url}/health`)).json()) as { coverage: { stateFirst: number } }
  return coverage.stateFirst
}

/** Questions about the state after a block: accounts and slots that blocks touched, or that none ever did. */
function asksAt(number: number, first: number, { loggers }: Traffic) {
  const random = seededRandom(number)
  const block = formatQuantity(number)
  const logger = loggers[random.below(loggers.length)]
  const account = `0x${random
    .below(40)
    .toString(16)
    .padStart(40, random.below(2) === 0 ? 'f' : '0')}`
  const slot = `0x${random.below(3).toString(16).padStart(64, '0')}`
  const asks = [
    { method: 'eth_getBalance', params: [account, block] },
    { method: 'eth_getTransactionCount', params: [account, block] },
    { method: 'eth_getCode', params: [logger, block] },
    { method: 'eth_getStorageAt', params: [logger, slot, block] },
    { method: 'eth_call', params: [{ to: logger, from: account }, block] },
    { method: 'eth_estimateGas', params: [{ to: logger, data: slot }, block] },
    { method: 'eth_createAccessList', params: [{ to: logger, data: slot }, block] },
  ]
  const traces = [
    { method: 'debug_traceBlockByNumber', params: [block, { tracer: 'callTracer' }] },
    {
      method: 'debug_traceBlockByNumber',
      params: [block, { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }],
    },
  ]
  return number > first ? [...asks, ...traces] : asks
}
