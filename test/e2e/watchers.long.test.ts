import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Contract, type Log as EthersLog, JsonRpcProvider, Network, type Provider, WebSocketProvider } from 'ethers'
import { createPublicClient, http, type PublicClient, parseAbi, type Log as ViemLog, webSocket } from 'viem'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { type CairnServer, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch, LOGGED_EVENT, LOGGER } from '../support/chains/branches.js'
import type { LogObject } from '../support/manySubscribers.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until, untilBlock, untilValue } from '../support/until.js'
import { type ForkingUpstream, startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* The watchers of viem and ethers, at a server that follows a chain with reorgs. */

const ADDRESS = formatData(LOGGER) as `0x${string}`
const POLLING_MS = 50
// Blocks that each step gives up and adds.
const STEPS = [
  [0, 1],
  [0, 3],
  [1, 2],
  [0, 2],
  [5, 6],
  [3, 4],
]

/** A log that a watcher was notified of. */
type SeenLog = Pick<LogObject, 'blockHash' | 'removed'> & { logIndex: string | number }

/** The notifications so far. */
interface Watched {
  readonly logs: { readonly [watcher: string]: readonly SeenLog[] }
  /** False: removed logs come as other events, which belong to one log each (ethers). */
  readonly tellsRemoved: boolean
  /** Numbers of blocks. */
  readonly blocks: readonly number[]
  stop(): Promise<void>
}

/** A server that follows a node with 12 blocks. */
async function startChain(t: TestContext) {
  const random = seededRandom(31)
  let trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 12, random })
  const upstream = await startForkingUpstream(t, trunk)
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(BRANCHES_GENESIS))
  const args = [
    '--datadir',
    temporaryDirectory(t),
    '--genesis',
    genesis,
    '--open',
    '--metrics',
    '--upstream',
    upstream.wsUrl,
  ]
  const server = await startCairn(t, args)
  const change = async (removed: number, added: number): Promise<readonly Block[]> => {
    const kept = trunk.slice(0, trunk.length - removed)
    trunk = [...kept, ...(await growBranch(temporaryDirectory(t), { trunk: kept, count: added, random }))]
    await upstream.become(trunk)
    return trunk
  }
  await reaches(server, trunk)
  return { upstream, server, change, above: trunk.length }
}

const reaches = (server: CairnServer, trunk: readonly Block[]) => untilBlock(server, formatData(trunk.at(-1)!.hash))

/** The logs that are left when the removed ones are taken away. */
function replay(logs: readonly SeenLog[]): string[] {
  const held = new Set<string>()
  for (const { blockHash, logIndex, removed } of logs) {
    const key = `${blockHash} ${Number(logIndex)}`
    assert.equal(held.has(key), removed, `${key}: ${removed ? 'removed, but not there' : 'twice'}`)
    if (removed) held.delete(key)
    else held.add(key)
  }
  return [...held].sort()
}

/** Changes the chain step by step, and waits each time until every watcher of logs has those of the chain, no others
 *  and none twice, and the watcher of blocks the newest. */
async function checkWatchers(
  t: TestContext,
  starts: { readonly [watchers: string]: (server: CairnServer) => Promise<Watched> },
): Promise<void> {
  const { upstream, server, change, above } = await startChain(t)
  const all: [string, Watched][] = []
  for (const [watchers, start] of Object.entries(starts)) all.push([watchers, await start(server)])
  try {
    for (const [removed, added] of STEPS) {
      const trunk = await change(removed, added)
      await reaches(server, trunk)
      const wanted = await logsAbove(upstream, above)
      const hashes = new Set(trunk.map(({ hash }) => formatData(hash)))
      for (const [watchers, watched] of all) {
        const own = `${watchers}, ${removed} blocks removed`
        await untilSeen(() => watched.blocks.at(-1), trunk.length, `blocks of ${own}`)
        const left = (logs: readonly SeenLog[]) =>
          replay(watched.tellsRemoved ? logs : logs.filter(({ blockHash }) => hashes.has(blockHash)))
        for (const [watcher, logs] of Object.entries(watched.logs)) {
          await untilSeen(() => left(logs), wanted, `${watcher} of ${own}`)
        }
      }
    }
  } finally {
    for (const [, watched] of all) await watched.stop()
  }
}

async function untilSeen(read: () => unknown, wanted: unknown, what: string): Promise<void> {
  const limitMs = 60_000
  await untilValue(read, (seen) => isDeepStrictEqual(seen, wanted), limitMs).catch(() =>
    assert.deepEqual(read(), wanted, what),
  )
}

async function logsAbove({ url }: ForkingUpstream, above: number): Promise<string[]> {
  const filter = { address: ADDRESS, fromBlock: formatQuantity(above + 1), toBlock: 'latest' }
  const logs = await resultOf<LogObject[]>(url, 'eth_getLogs', [filter])
  return replay(logs)
}

const abi = parseAbi([LOGGED_EVENT])

/** viem's watchers. Over HTTP they poll filters. */
async function watchByViem(client: PublicClient, close: () => Promise<void>): Promise<Watched> {
  const logs: { [watcher: string]: SeenLog[] } = { event: [], contractEvent: [] }
  const blocks: number[] = []
  let isStopped = false
  const onError = (error: Error) => assert.ok(isStopped, error)
  const take = (seen: SeenLog[]) => (some: readonly ViemLog[]) =>
    void seen.push(
      ...some.map(({ blockHash, logIndex, removed }) => ({ blockHash: blockHash!, logIndex: logIndex!, removed })),
    )
  const stops = [
    client.watchBlocks({ onBlock: ({ number }) => void blocks.push(Number(number)), onError }),
    client.watchEvent({ address: ADDRESS, onLogs: take(logs.event), onError }),
    client.watchContractEvent({
      address: ADDRESS,
      abi,
      eventName: 'Stored',
      onLogs: take(logs.contractEvent),
      onError,
    }),
  ]
  return {
    logs,
    blocks,
    tellsRemoved: true,
    stop: async () => {
      isStopped = true
      for (const stop of stops) stop()
      await close()
    },
  }
}

/** ethers' watchers. */
async function watchByEthers(provider: Provider & { destroy(): unknown }): Promise<Watched> {
  const logs: { [watcher: string]: SeenLog[] } = { filter: [], contract: [] }
  const blocks: number[] = []
  const take = (seen: SeenLog[]) => (log: EthersLog) =>
    void seen.push({ blockHash: log.blockHash, logIndex: log.index, removed: log.removed })
  const contract = new Contract(ADDRESS, [LOGGED_EVENT], provider)
  await Promise.all([
    provider.on('block', (number: number) => void blocks.push(number)),
    provider.on({ address: ADDRESS }, take(logs.filter)),
    contract.on('Stored', (...args) => take(logs.contract)((args.at(-1) as { log: EthersLog }).log)),
  ])
  return { logs, blocks, tellsRemoved: false, stop: async () => void (await provider.destroy()) }
}

/** Waits until the server has that many filters. */
async function filtersOf({ url }: CairnServer, count: number): Promise<void> {
  const metric = async () => /^cairn_filters (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  await until(async () => Number(await metric()) === count)
}

const LIMIT = { timeout: 120_000 }

test("the watchers of viem and ethers over WebSocket and HTTP give the chain's logs through reorgs", LIMIT, (t) =>
  checkWatchers(t, {
    'viem over WebSocket': async ({ socketUrl }) => {
      const client = createPublicClient({ transport: webSocket(socketUrl, { reconnect: false, keepAlive: false }) })
      const watched = await watchByViem(client, async () => (await client.transport.getRpcClient()).close())
      // The subscriptions are made behind viem's back: a request after them is answered after them.
      await client.getChainId()
      return watched
    },
    'viem over HTTP': async (server) => {
      const client = createPublicClient({ transport: http(server.url), pollingInterval: POLLING_MS })
      // viem polls for ever where the server ends before it has removed a filter. Those of ethers are left.
      const watched = await watchByViem(client, () => filtersOf(server, 2))
      await filtersOf(server, 2)
      return watched
    },
    'ethers over WebSocket': async ({ socketUrl }) => {
      const network = Network.from(20_265)
      const provider = new WebSocketProvider(socketUrl, network, { staticNetwork: network })
      const watched = await watchByEthers(provider)
      await provider.send('eth_chainId', [])
      return watched
    },
    'ethers over HTTP': async (server) => {
      const network = Network.from(20_265)
      const options = { staticNetwork: network, pollingInterval: POLLING_MS }
      const watched = await watchByEthers(new JsonRpcProvider(server.url, network, options))
      await filtersOf(server, 4)
      return watched
    },
  }),
)
