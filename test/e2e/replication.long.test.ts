import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { noProgress } from '../../src/lib/progress.js'
import { encodeFrame, encodeUnit } from '../../src/replication/http/frames.js'
import { createReplicatedChain } from '../../src/replication/replicatedChain.js'
import { openForReading, packagePath } from '../../src/store/open.js'
import type { WritableChain } from '../../src/sync/chainState.js'
import { replaceBranch } from '../../src/sync/head/reorg.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { FEW_THREADS, runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch, openBranches } from '../support/chains/branches.js'
import { FIXTURE_FOLDER, sourceOf } from '../support/chains/fixture.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { compareRows, isTrieAtHead } from '../support/compare/compareChains.js'
import { compareServers } from '../support/compare/compareServers.js'
import { seededRandom } from '../support/random.js'
import { ask, resultOf, send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'

/* `cairn serve --replica http://…` against another server. */

const random = seededRandom(1807)

const hashOf = async (url: string) =>
  (await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])).hash

const untilHead = (server: { url: string }, hash: string) => until(async () => (await hashOf(server.url)) === hash)

/** A chain of branches that the test itself writes. */
async function openChain(t: TestContext, trunk: readonly Block[]) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  await append(chain, trunk)
  return { datadir, chain }
}

const writerArgs = (datadir: string) => ['--datadir', datadir, '--open', '--replication']

const append = (chain: WritableChain, blocks: readonly Block[]) =>
  importBlocks(chain, sourceOf(blocks), { progress: noProgress })

/** A replica's database at the genesis, with the layer-2 blocks and the core contract that an operator names, and the
 *  options to serve it. */
async function openReplica(t: TestContext, url: string) {
  const datadir = temporaryDirectory(t)
  const { db } = await openBranches(datadir)
  db.close()
  return { datadir, args: ['--datadir', datadir, '--open', '--replica', url] }
}

const health = async ({ url }: { url: string }) =>
  (await (await fetch(`${url}/health`)).json()) as { replication: { state: string; problem: string | null } | null }

test('a replica of the bundled chain answers as the writer does, with a key of its own; a wrong one is said', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const key = (
    await runCairnOk(['keys', 'create', 'replica', '--datadir', datadir, '--methods', 'eth_*,debug_*,replication'])
  ).trim()
  const writer = await startCairn(t, ['--datadir', datadir, '--replication'])
  const own = temporaryDirectory(t)
  const genesis = join(FIXTURE_FOLDER, 'genesis.json')
  const replica = await startCairn(t, [
    ...['--datadir', own, '--open', '--genesis', genesis, '--replica', `${writer.url}/${key}`],
  ])
  const keyed = { url: `${writer.url}/v3/${key}` }
  await untilHead(replica, await hashOf(keyed.url))
  await compareServers(keyed, replica, datadir)
  const folder = packagePath('fixtures/rpc')
  let count = 0
  for (const method of readdirSync(folder).filter((name) => /^(eth|debug)_/.test(name))) {
    for (const file of readdirSync(join(folder, method))) {
      if (count++ % 8 > 0 && !THOROUGH) continue
      const { request } = JSON.parse(readFileSync(join(folder, method, file), 'utf8')) as {
        request: { method: string }
      }
      if (/ilter|ubscri|Cursor/.test(method)) continue // of a session, or signed with a secret of the database
      assert.deepEqual(await send(replica.url, request), await send(keyed.url, request), `${method}/${file}`)
    }
  }
  await replica.stop()
  assert.match(await runCairnOk(['verify', '--datadir', own]), /./)
  const withKey = (each: string) => ['--datadir', own, '--open', '--replica', `${writer.url}/${each}`]
  const wrong = await startCairn(t, withKey('0'.repeat(32)))
  await until(async () => (await health(wrong)).replication?.problem !== null)
  assert.match((await health(wrong)).replication!.problem!, /HTTP 401: invalid API key/)
  assert.equal((await fetch(`${wrong.url}/ready`)).status, 503)
})

test('options that exclude each other are refused', async () => {
  const args = ['--datadir', '.', '--open', '--replica']
  const refused = async (...more: string[]) => (await runCairn(['serve', ...args, ...more])).stderr
  const url = 'http://127.0.0.1:1'
  assert.match(await refused(url, '--upstream', url), /--replica excludes --upstream/)
  assert.match(await refused(url, '--replica', url), /--replica: takes one http URL, got 2/)
  assert.match(await refused('ws://127.0.0.1'), /--replica: expected a URL/)
})

test('live blocks, reorgs of 1, 3 and 32 blocks and a rewind reach a replica, row for row', async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 40, random })
  const { datadir, chain } = await openChain(t, trunk.slice(0, 30))
  const writer = await startCairn(t, writerArgs(datadir))
  const { args, datadir: own } = await openReplica(t, writer.url)
  const replica = await startCairn(t, args)
  const settled = async (place: string) => {
    await untilHead(replica, formatData(chain.head.newest!.hash))
    await until(async () => isTrieAtHead(own))
    compareRows(own, datadir, place)
  }
  await settled('at the start')
  for (const block of trunk.slice(30)) await append(chain, [block])
  await settled('live blocks')
  let current: readonly Block[] = trunk
  for (const depth of [1, 3, 32]) {
    const kept = current.slice(0, current.length - depth)
    const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: depth + 1, random })
    await replaceBranch(
      chain,
      kept.length,
      branch.map((block) => ({ block })),
    )
    await settled(`a reorg of ${depth}`)
    current = [...kept, ...branch]
  }
  chain.head.rewind(current.length - 2, { byOperator: true })
  chain.head.commit()
  await settled('a rewind')
  await until(async () => (await health(replica)).replication?.state === 'following') // at most 250 ms old
})

test('kill -9 of the replica or of the writer at any moment loses and doubles nothing', async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 60, random })
  const { datadir, chain } = await openChain(t, trunk.slice(0, 20))
  const spawnServer = (port: string, args: readonly string[]) => {
    const running = spawnCairn(['serve', '--port', port, '--log-level', 'error', ...args], FEW_THREADS)
    t.after(async () => {
      running.child.kill('SIGKILL')
      await running.ended
    })
    return running
  }
  let writer = spawnServer('0', writerArgs(datadir))
  const [, url] = await writer.waitFor('stdout', /^ready (\S+)\n/)
  const { args, datadir: own } = await openReplica(t, url)
  const kills = THOROUGH ? 40 : 2
  for (let kill = 0; kill < kills; kill++) {
    const running = spawnServer('0', args)
    const [from, upTo] = [kill, kill + 1].map((each) => 20 + Math.floor((each * 30) / kills))
    for (const block of trunk.slice(from, upTo)) await append(chain, [block])
    await sleep(500 + random.below(1_000))
    if (kill % 2 === 1) {
      writer.child.kill('SIGKILL')
      await writer.ended
      writer = spawnServer(new URL(url).port, writerArgs(datadir))
      await writer.waitFor('stdout', /^ready/)
    }
    running.child.kill('SIGKILL')
    await running.ended
  }
  await append(chain, trunk.slice(50))
  const replica = await startCairn(t, args)
  await untilHead(replica, formatData(trunk[59].hash))
  await until(async () => isTrieAtHead(own))
  await replica.stop()
  compareRows(own, datadir, 'after the kills')
})

test('forged, reordered and cut frames are refused by name: /ready fails, and serving continues', async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 5, random: seededRandom(1808) })
  const { datadir } = await openChain(t, trunk)
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const feed = createReplicatedChain(db)
  const genesis = formatData(feed.hash(0)!)
  const greeting = encodeFrame({ format: 1, 'chain-id': String(BRANCHES_GENESIS.config.chainId), genesis })
  const units = feed.next({ locator: [{ number: 0, hash: feed.hash(0)! }] }, undefined)
  const frames = units.flatMap(encodeUnit)
  const forged = Buffer.from(frames[1])
  forged[forged.length - 40] ^= 1
  // test/replication/http/httpSource.test.ts has each fault.
  const faults: [string, Buffer[], RegExp][] = [
    ['forged', [forged], /replication message: /],
    ['reordered', [frames[2], frames[1]], /frame: number: expected block 2, got 3/],
    ['cut', [frames[1].subarray(0, -1)], /frame: expected at least \d+ bytes, got the end/],
  ]
  for (const [fault, sent, problem] of THOROUGH ? faults : faults.slice(0, 1)) {
    const forger = createServer((_, response) => void response.end(Buffer.concat([greeting, frames[0], ...sent])))
    await new Promise<void>((resolve) => forger.listen(0, '127.0.0.1', resolve))
    t.after(() => void forger.close())
    const { args } = await openReplica(t, `http://127.0.0.1:${(forger.address() as AddressInfo).port}`)
    const replica = await startCairn(t, args)
    await until(async () => (await health(replica)).replication?.state === 'alarm')
    assert.match((await health(replica)).replication!.problem!, problem, fault)
    assert.equal((await fetch(`${replica.url}/ready`)).status, 503, fault)
    assert.equal((await ask(replica.url, 'eth_blockNumber')).result, '0x1', fault)
    await replica.stop()
  }
})
