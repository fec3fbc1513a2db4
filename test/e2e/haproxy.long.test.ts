import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { startCairn } from '../support/cairn.js'
import { growBranch, openBranches } from '../support/chains/branches.js'
import { sourceOf } from '../support/chains/fixture.js'
import { branchesDirectory, startMember } from '../support/members.js'
import { checkConfig, type LoadBalancer, SKIP_HAPROXY, startHaproxy } from '../support/nats/haproxy.js'
import { seededRandom } from '../support/random.js'
import { type Answer, ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { openSubscriber } from '../support/webSocketClient.js'

/* `deploy/scaling/haproxy.cfg` in front of three replicas. */

const random = seededRandom(1809)
const hostOf = ({ url }: { url: string }) => new URL(url).host

/** A writer, three replicas of it and HAProxy; blocks come when the test says so. */
async function startService(t: TestContext, { first, maxLag }: { first: readonly Block[]; maxLag: number }) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  const append = (blocks: readonly Block[]) => importBlocks(chain, sourceOf(blocks), { progress: noProgress })
  await append(first)
  const writer = await startCairn(t, ['--datadir', datadir, '--open', '--replication'])
  const limits = ['--max-lag', String(maxLag), '--min-block-wait', '1000']
  const startReplica = async () => startMember(t, await branchesDirectory(t), ['--replica', writer.url, ...limits])
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()])
  const balancer = await startHaproxy(t, { replicas: replicas.map(hostOf), writer: hostOf(writer) })
  await balancer.untilRotation(['r1', 'r2', 'r3'])
  return { writer, replicas, balancer, append }
}

/** Stops the replica from committing until the function that this gives is called: another connection holds the write
 *  lock. */
function holdBack({ datadir }: { datadir: string }): () => void {
  const db = new BetterSqlite3(join(datadir, DATABASE_FILE), { timeout: 10_000 })
  db.exec('BEGIN IMMEDIATE')
  return () => {
    db.exec('ROLLBACK')
    db.close()
  }
}

/** The answer of a request for at least that block. */
async function askFrom(url: string, minBlock: number, method: string, params: unknown[] = []) {
  const headers = { 'Content-Type': 'application/json', 'Cairn-Min-Block': String(minBlock) }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers, body })
  const { result, error } = (await response.json()) as Answer
  return { status: response.status, head: Number(response.headers.get('Cairn-Head')), result, error }
}

const countsOf = async (balancer: LoadBalancer, name: string) =>
  (await balancer.counts()).filter(({ backend }) => backend === name)

test('haproxy accepts the configuration, also with keys', { skip: SKIP_HAPROXY }, (t) => {
  const keys = join(temporaryDirectory(t), 'keys')
  writeFileSync(keys, `${'a'.repeat(32)}\n`)
  const valid = { status: 0, output: 'Configuration file is valid\n' }
  assert.deepEqual(checkConfig({ CAIRN_LB_UNPRIVILEGED: '1' }), valid)
  assert.deepEqual(checkConfig({ CAIRN_LB_UNPRIVILEGED: '1', CAIRN_LB_KEYS: keys }), valid)
})

test('reads are spread, and what belongs to one server goes to one server', { skip: SKIP_HAPROXY }, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random })
  const { writer, balancer, append } = await startService(t, { first: trunk.slice(0, 5), maxLag: 2 })

  await t.test('reads go to all replicas', async () => {
    const query = ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x5' }]] as const
    const expected = await resultOf(writer.url, ...query)
    for (let i = 0; i < 30; i++) assert.deepEqual(await resultOf(balancer.url, ...query), expected)
    for (const { name, sessions } of await countsOf(balancer, 'replicas'))
      assert.ok(sessions >= 8, `${name} ${sessions}`)
  })
  await t.test('Cairn-Head and Cairn-Min-Block pass', async () => {
    const { head, result } = await askFrom(balancer.url, 5, 'eth_blockNumber')
    assert.deepEqual([head, result], [5, '0x5'])
  })
  await t.test('a filter stays with its server, a transaction goes to the writer', async () => {
    const filter = await resultOf<string>(balancer.url, 'eth_newBlockFilter')
    await append(trunk.slice(5))
    const found: string[] = []
    while (found.length === 0) found.push(...(await resultOf<string[]>(balancer.url, 'eth_getFilterChanges', [filter])))
    assert.deepEqual(found, [formatData(trunk[5].hash)])
    assert.match((await ask(balancer.url, 'eth_sendRawTransaction', ['0x00'])).error!.message, /does not forward/)
    const [{ sessions }, standby] = await countsOf(balancer, 'writers')
    assert.deepEqual([sessions, standby.sessions], [1, 0])
  })
  await t.test('the stream of blocks and the metrics are not for clients', async () => {
    for (const path of ['/replication', '/replication/key?from=0', '/metrics']) {
      assert.equal((await fetch(`${balancer.url}${path}`)).status, 404, path)
    }
  })
  await t.test('a body that no buffer holds is answered', async () => {
    const long = await ask(balancer.url, 'eth_getLogs', [{ address: Array(2_000).fill(`0x${'1'.repeat(40)}`) }])
    assert.deepEqual(long.result, [])
  })
  await t.test('with a file of keys, others are refused', async (t) => {
    const [key, keysFile] = ['b'.repeat(32), join(temporaryDirectory(t), 'keys')]
    writeFileSync(keysFile, `${key}\n`)
    const keyed = await startHaproxy(t, { replicas: [hostOf(writer)], keysFile })
    await keyed.untilRotation(['r1'])
    const statusOf = async (path: string, headers: { [name: string]: string } = {}) => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
      const all = { 'Content-Type': 'application/json', ...headers }
      return (await fetch(`${keyed.url}${path}`, { method: 'POST', headers: all, body })).status
    }
    assert.equal(await statusOf('/'), 401)
    assert.equal(await statusOf(`/v3/${'c'.repeat(32)}`), 401)
    assert.equal(await statusOf(`/v3/${key}`), 200)
    assert.equal(await statusOf('/', { 'X-API-Key': key }), 200)
    assert.equal(await statusOf('/', { Authorization: `Bearer ${key}` }), 200)
    const subscriber = await openSubscriber(t, keyed.url, `/ws/v3/${key}`)
    assert.equal((await subscriber.ask('eth_blockNumber')).result, '0x6')
  })
})

test('a replica that lags or dies leaves the rotation: no failed answer, none older than asked for', {
  skip: SKIP_HAPROXY,
}, async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 24, random })
  const { replicas, balancer, append } = await startService(t, { first: trunk.slice(0, 4), maxLag: 2 })
  let wanted = 4
  let asked = 0
  const stop = new AbortController()
  /** Asks for the writer's head again and again. */
  const client = async () => {
    while (!stop.signal.aborted) {
      const least = wanted
      const { status, head, result, error } = await askFrom(balancer.url, least, 'eth_blockNumber')
      assert.equal(error, undefined, JSON.stringify(error))
      assert.equal(status, 200)
      assert.ok(Number(result) >= least && head >= least, `asked for ${least}, got ${result} of head ${head}`)
      asked++
    }
  }
  const clients = Promise.all(Array.from({ length: 6 }, client))
  clients.catch(() => stop.abort())
  t.after(() => stop.abort())
  const grow = async (upTo: number) => {
    while (wanted < upTo) {
      await append(trunk.slice(wanted, wanted + 1))
      wanted++
      const [before, enough] = [asked, asked + 12]
      await until(() => asked >= enough || stop.signal.aborted)
      assert.ok(asked > before, 'clients get answers')
    }
  }
  await grow(8)
  const sockets = await Promise.all([0, 1, 2].map(() => openSubscriber(t, balancer.url)))
  for (const each of sockets) await each.ask('eth_subscribe', 'newHeads')
  const open = () => sockets.filter(({ socket }) => socket.readyState === socket.OPEN)

  const release = holdBack(replicas[0])
  await grow(10)
  const lagging = async () => (await countsOf(balancer, 'replicas'))[0]
  await until(async () => (await lagging()).retried > 0 || stop.signal.aborted)
  assert.equal((await lagging()).status, 'UP', 'it may be 2 blocks behind')
  await grow(12)
  await balancer.untilRotation(['r2', 'r3'])
  await until(() => open().length < 3)
  assert.equal(open().length, 2, 'the sockets of the one that lags are closed')
  release()
  await balancer.untilRotation(['r1', 'r2', 'r3'])

  await replicas[2].kill()
  await grow(16)
  await balancer.untilRotation(['r1', 'r2'])
  await until(() => open().length < 2)
  const [left] = open()
  await append(trunk.slice(16, 17))
  wanted++
  await left.untilHead(trunk[16].hash)
  await replicas[1].kill()
  await grow(20)
  await balancer.untilRotation(['r1'])
  stop.abort()
  await clients
})
