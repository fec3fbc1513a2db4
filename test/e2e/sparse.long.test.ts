import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { type CairnServer, startCairn } from '../support/cairn.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { compareFrom, type Peer, reachHead, startTraffic, type Traffic } from '../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../support/upstream/geth.js'

/* `--state sparse`: begun at a block of a running geth without state, followed through reorgs, and compared with the
 * archive that geth keeps: what blocks touched, what no block touched, calls, traces, proofs. */

for (const mode of ['witness', 'proofs', 'auto']) {
  test(`sparse state, by ${mode}: every answer since the first block is that of an archive`, {
    skip: SKIP_GETH,
  }, async (t) => {
    const peer = await startGethPeer(t)
    const traffic = await startTraffic(peer)
    await traffic.mine(60)
    const first = Number(await resultOf<string>(peer.url, 'eth_blockNumber'))
    const datadir = temporaryDirectory(t)
    const server = await startSparse(t, peer, datadir, mode)
    await reachHead(server, peer)
    await traffic.mine(60)
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

function startSparse(t: TestContext, peer: Peer, datadir: string, mode: string): Promise<CairnServer> {
  const follows = ['--open', '--network', 'dev', '--state', 'sparse', '--state-fetch', mode, '--upstream', peer.wsUrl]
  return startCairn(t, ['--datadir', datadir, ...follows, '--queue-timeout', '60000'])
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
