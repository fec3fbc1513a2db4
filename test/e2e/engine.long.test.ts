import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashHeader } from '../../src/chain/eth/header.js'
import { formatQuantity } from '../../src/lib/hex.js'
import type { EngineFigures } from '../../src/sync/engine/engineFigures.js'
import { ConsensusDriver } from '../support/engine/consensusDriver.js'
import { callEngine, callEngineBatch, makeToken } from '../support/engine/engineClient.js'
import { type EngineNode, startCairnEngine, startGethEngine } from '../support/engine/engineServers.js'
import { type BuiltPayload, createPayloadChain } from '../support/engine/payloadChain.js'
import { forkChoiceOf, payloadOf } from '../support/engine/payloads.js'
import { SideBySide } from '../support/engine/sideBySide.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilValue } from '../support/until.js'
import { startChangingProxy } from '../support/upstream/changingProxy.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

const SEED = Number(process.env.SEED ?? 1)
const ALL_PRAGUE = { shanghai: 0, cancun: 0, prague: 0, osaka: 1000, amsterdam: 1000 }

interface Status {
  readonly status: string
  readonly latestValidHash: string | null
}

async function sendPayload({ engineUrl }: Pick<EngineNode, 'engineUrl'>, { payload }: BuiltPayload): Promise<Status> {
  const { result, error } = await callEngine(engineUrl, payload.method, payload.params)
  assert.equal(error, undefined, JSON.stringify(error))
  return result as Status
}

async function choose(
  { engineUrl }: Pick<EngineNode, 'engineUrl'>,
  { payload }: BuiltPayload,
  finalized: string,
): Promise<Status> {
  const state = { headBlockHash: payload.hash, safeBlockHash: finalized, finalizedBlockHash: finalized }
  const { result, error } = await callEngine(engineUrl, forkChoiceOf(payload), [state, null])
  assert.equal(error, undefined, JSON.stringify(error))
  return (result as { payloadStatus: Status }).payloadStatus
}

async function extend(node: EngineNode, built: BuiltPayload, finalized: string): Promise<void> {
  assert.equal((await sendPayload(node, built)).status, 'VALID')
  assert.equal((await choose(node, built, finalized)).status, 'VALID')
}

const headOf = async ({ url }: EngineNode) => resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])

/** Sends the fork choice until the node has reached it. */
async function untilHead(node: EngineNode, built: BuiltPayload, finalized: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await choose(node, built, finalized)
    if ((await headOf(node).catch(() => null))?.hash === built.payload.hash) return
    await sleep(50)
  }
  assert.fail(`the head ${built.payload.number} was not reached`)
}

// Blocks of the first round; then reorgs of each depth in turn.
const {
  forks: FORKS,
  blocks: BLOCKS,
  reorgs: REORGS,
} = THOROUGH
  ? { forks: { shanghai: 30, cancun: 90, prague: 170, osaka: 260, amsterdam: 360 }, blocks: 60, reorgs: 200 }
  : { forks: { shanghai: 5, cancun: 12, prague: 22, osaka: 46, amsterdam: 64 }, blocks: 84, reorgs: 0 }
const DEEPEST = 32

test('hundreds of payloads with reorgs of up to 32 blocks are answered as geth does', {
  skip: SKIP_GETH,
}, async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: FORKS })
  const args = ['--block-access-lists=on']
  const starting = [startGethEngine(t, chain.genesis), startCairnEngine(t, { genesis: chain.genesis, args })] as const
  const nodes = new SideBySide(...(await Promise.all(starting)))
  const driver = new ConsensusDriver(nodes, chain, random)
  while (chain.head < 36) await driver.extend()
  await driver.reorg(DEEPEST)
  while (chain.head < BLOCKS) await driver.step(DEEPEST)
  for (let i = 0; driver.counts.reorgs < REORGS; i++) {
    const depth = 1 + (i % DEEPEST)
    while (driver.unfinalized <= depth) await driver.extend()
    await driver.reorg(depth)
    for (let steps = random.below(4); steps > 0; steps--) await driver.step(DEEPEST)
  }
  await driver.invalid()
  await driver.finalize(10)
  await driver.compareChains()
  t.diagnostic(
    JSON.stringify({ head: chain.head, ...driver.counts, requests: nodes.requests, differences: [...nodes.seen] }),
  )
  assert.ok(driver.counts.payloads > (THOROUGH ? 2_000 : 150))
  assert.ok(!THOROUGH || driver.counts.depths === DEEPEST)
})

test('a killed process begins with the head of the last fork choice, and resumes', async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: ALL_PRAGUE })
  const datadir = temporaryDirectory(t)
  const trunk: BuiltPayload[] = []
  let chosen = chain.genesisHash
  let server = await startKillable(t, { genesis: chain.genesis, datadir })
  // Of four kinds in turn; those that are killed while they work are the last two.
  for (const round of THOROUGH ? [0, 1, 2, 3, 4, 5] : [2, 3]) {
    const built = await chain.add()
    trunk.push(built)
    const [before, delayMs] = [chosen, [0, 1, 3, 8][round % 4]]
    // Every other round is killed before the fork choice, the others during it.
    const sending =
      round % 2 === 0
        ? sendPayload(server, built)
        : sendPayload(server, built).then(() => choose(server, built, chain.genesisHash))
    const quiet = sending.catch(() => undefined)
    if (round % 4 < 2) await quiet
    else await sleep(delayMs)
    await server.kill()
    await quiet
    server = await startKillable(t, { genesis: chain.genesis, datadir })
    const { hash } = await headOf(server)
    const allowed = round % 2 === 0 ? [before] : [before, built.payload.hash]
    assert.ok(allowed.includes(hash), `round ${round}: head ${hash}`)
    await extend(server, built, chain.genesisHash)
    chosen = built.payload.hash
  }
  await server.kill()
  const last = await startKillable(t, { genesis: chain.genesis, datadir })
  for (const { payload } of trunk) {
    const { hash } = await resultOf<{ hash: string }>(last.url, 'eth_getBlockByNumber', [
      formatQuantity(payload.number),
      false,
    ])
    assert.equal(hash, payload.hash)
  }
  await last.kill()
})

/** Cairn, to be killed by the test. */
async function startKillable(
  t: { after(callback: () => void | Promise<void>): void },
  options: { genesis: string; datadir: string },
) {
  const endings: (() => void | Promise<void>)[] = []
  const server = await startCairnEngine({ after: (ending) => void endings.push(ending) }, options)
  let isKilled = false
  const kill = async () => {
    if (isKilled) return
    isKilled = true
    server.running.child.kill('SIGKILL')
    await server.running.ended
  }
  t.after(kill)
  return { ...server, kill }
}

// More than are kept.
const ORPHANS = THOROUGH ? 10_000 : 1_500

test('payloads without known parents and large bodies are bounded', async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: ALL_PRAGUE })
  const cairn = await startCairnEngine(t, { genesis: chain.genesis })
  const [first, second] = [await chain.add(), await chain.add()]
  await extend(cairn, first, chain.genesisHash)
  // All of them have another hash than they say: the fields of each differ by the parent.
  const large = await postZeros(cairn.engineUrl, 100_000_000)
  assert.equal(large.status, 413)
  assert.ok(large.sent < 60_000_000, `${large.sent} bytes were taken`)
  const orphans = makeOrphans(second, ORPHANS)
  for (let at = 0; at < orphans.length; at += 50) {
    const calls = orphans.slice(at, at + 50).map(({ payload: { method, params } }) => ({ method, params }))
    for (const { result } of await callEngineBatch(cairn.engineUrl, calls)) {
      assert.equal((result as Status).status, 'SYNCING')
    }
  }
  await extend(cairn, second, chain.genesisHash)
  const readFigures = async () => {
    const health = (await (await fetch(`${cairn.url}/health`)).json()) as { following: { engine: EngineFigures } }
    return health.following.engine
  }
  const figures = await untilValue(readFigures, ({ newPayloads }) => newPayloads >= ORPHANS + 2)
  assert.ok(figures.payloads <= 1024 && figures.payloadBytes < 96 * 2 ** 20, JSON.stringify(figures))
})

/** Payloads with parents that no node knows. */
function makeOrphans({ block, blockAccessList, parent }: BuiltPayload, count: number): BuiltPayload[] {
  return Array.from({ length: count }, (_, i) => {
    const parentHash = new Uint8Array(32)
    new DataView(parentHash.buffer).setUint32(0, i + 1)
    const header = { ...block.header, parentHash }
    const orphan = { ...block, header, hash: hashHeader(header) }
    return { payload: payloadOf(orphan, blockAccessList), block: orphan, blockAccessList, parent }
  })
}

/** Posts that many bytes without saying how many they are. Returns the status, and how many were sent until then. */
function postZeros(url: string, bytes: number): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${makeToken()}`, 'content-type': 'application/json' }
    let sent = 0
    const posting = request(url, { method: 'POST', headers }, (response) => {
      response.resume()
      resolve({ status: response.statusCode!, sent })
      posting.destroy()
    })
    posting.on('error', (error) => (sent > 0 ? undefined : reject(error)))
    const chunk = Buffer.alloc(1_000_000, 0x20)
    const write = () => {
      while (sent < bytes && !posting.destroyed) {
        sent += chunk.length
        if (!posting.write(chunk)) {
          posting.once('drain', write)
          return
        }
      }
      posting.end()
    }
    write()
  })
}

test('every state begins from a fork choice or fills its gap from an upstream', async (t) => {
  const random = seededRandom(SEED)
  const chain = await createPayloadChain(t, { random, forks: ALL_PRAGUE })
  const complete = await startCairnEngine(t, { genesis: chain.genesis })
  const trunk: BuiltPayload[] = []
  const grow = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const built = await chain.add()
      trunk.push(built)
      await extend(complete, built, chain.genesisHash)
    }
  }
  await grow(THOROUGH ? 50 : 16)
  const finalized = trunk[trunk.length - 12].payload.hash
  const upstream = ['--upstream', complete.url]
  const start = (...args: string[]) => startCairnEngine(t, { genesis: chain.genesis, args: [...args, ...upstream] })
  const [executing, sparse, none] = [await start(), await start('--state', 'sparse'), await start('--state', 'none')]
  const newest = () => trunk[trunk.length - 1]
  for (const node of [executing, sparse, none]) {
    assert.equal((await sendPayload(node, newest())).status, 'SYNCING')
    assert.equal((await choose(node, newest(), finalized)).status, 'SYNCING')
    await untilHead(node, newest(), finalized)
    const { hash } = await resultOf<{ hash: string }>(node.url, 'eth_getBlockByNumber', ['finalized', false])
    assert.equal(hash, finalized)
  }
  // One by one, and a reorg.
  const before = newest()
  await grow(2)
  for (const node of [executing, sparse]) for (const built of trunk.slice(-2)) await extend(node, built, finalized)
  chain.rewind(before.payload.number)
  trunk.length = before.payload.number
  for (let i = 0; i < 4; i++) {
    const built = await chain.add()
    trunk.push(built)
    await sendPayload(complete, built)
  }
  await untilHead(complete, newest(), chain.genesisHash)
  for (const node of [executing, sparse, none]) await untilHead(node, newest(), finalized)
  for (const { payload } of trunk.slice(-8)) {
    const params = [formatQuantity(payload.number)]
    const expected = await resultOf(complete.url, 'eth_getBlockReceipts', params)
    for (const node of [executing, sparse, none]) {
      assert.deepEqual(await resultOf(node.url, 'eth_getBlockReceipts', params), expected)
    }
  }
  assert.equal((await sendPayload(none, newest())).status, 'SYNCING')
  assert.equal((await sendPayload(sparse, newest())).status, 'VALID')
})

const SLOW_MS = 200

test('an upstream that sends other blocks than those of the hashes is not asked again', async (t) => {
  const chain = await createPayloadChain(t, { random: seededRandom(SEED), forks: ALL_PRAGUE })
  const honest = await startCairnEngine(t, { genesis: chain.genesis })
  const trunk: BuiltPayload[] = []
  for (let i = 0; i < 12; i++) {
    trunk.push(await chain.add())
    await extend(honest, trunk[i], chain.genesisHash)
  }
  const proxy = await startChangingProxy(t, honest.url)
  const other = trunk[3].payload.hash
  proxy.fault = {
    call: (call) =>
      call.method === 'eth_getBlockByHash' && call.params[0] !== other
        ? { ...call, params: [other, ...call.params.slice(1)] }
        : call,
  }
  // Slower until the other one has sent a block, so that the faster one is asked.
  const right = await startChangingProxy(t, honest.url)
  right.fault = { delayMs: () => (proxy.changed === 0 ? SLOW_MS : 0) }
  const args = ['--upstream', proxy.url, '--upstream', right.url]
  const cairn = await startCairnEngine(t, { genesis: chain.genesis, args })
  const last = trunk[trunk.length - 1]
  assert.equal((await sendPayload(cairn, last)).status, 'SYNCING')
  await untilHead(cairn, last, chain.genesisHash)
  assert.ok(proxy.changed > 0)
  const readUpstreams = async () => {
    const health = (await (await fetch(`${cairn.url}/health`)).json()) as {
      following: { upstreams: { state: string; invalidResponses: number }[] }
    }
    return health.following.upstreams
  }
  // The thread reports every 250 ms.
  for (let attempt = 0; (await readUpstreams())[0]?.state !== 'quarantined'; attempt++) {
    assert.ok(attempt < 200, 'the upstream is asked still')
    await sleep(50)
  }
  assert.deepEqual(
    (await readUpstreams()).map(({ invalidResponses }) => invalidResponses > 0),
    [true, false],
  )
})
