import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { type CairnServer, runCairnOk, serveFixture, spawnCairn, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { growL2, makePending, toRpcJson } from '../support/chains/l2Blocks.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until, untilValue } from '../support/until.js'
import { nodeBlock, startL2Node } from '../support/upstream/l2Node.js'
import { RpcFailure } from '../support/upstream/scriptedUpstream.js'

interface Health {
  l2Head: { number: number; hash: string } | null
  following: { state: string; block: number } | null
  l2Following: {
    state: string
    block: number
    upstreamBlock: number
    upstreamHash: string
    acceptedOnL1: number | null
    problem: string | null
    upstreams: { upstream: string; state: string }[]
  } | null
}

async function healthOf({ url }: CairnServer): Promise<Health> {
  return (await (await fetch(`${url}/health`)).json()) as Health
}

/** The health once it is as `isReached` says. */
const untilHealth = (server: CairnServer, isReached: (health: Health) => boolean) =>
  untilValue(() => healthOf(server), isReached)

test('cairn serve --l2-upstream serves the chain of the node, and says how it follows', async (t) => {
  const chain = growL2([], 30)
  const node = await startL2Node(t, chain)
  node.acceptedOnL1 = 12
  const pending = makePending({ number: 30, status: 'PRE_CONFIRMED' })
  const { status: _, parent_hash: __, ...rpc } = toRpcJson(pending) as Record<string, unknown>
  node.pending = { rpc, feeder: {} }
  const key = 'b2e5c3f1a09d4e76'
  const url = `${node.url.replace('//', '//user:hunter2@')}/rpc/v0_9/${key}?token=abc987`
  const datadir = temporaryDirectory(t)
  const args = ['--datadir', datadir, '--open', '--metrics', '--l2-upstream', url, '--l2-header', 'X-Token: tiptop']
  const server = await startCairn(t, [...args, '--log-level', 'debug'])
  const health = await untilHealth(
    server,
    ({ l2Following }) => l2Following?.state === 'following' && l2Following.block === 29,
  )
  const { upstreamBlock, upstreamHash, acceptedOnL1, problem } = health.l2Following!
  assert.deepEqual(
    { following: health.following, upstreamBlock, upstreamHash, acceptedOnL1, problem },
    { following: null, upstreamBlock: 29, upstreamHash: formatFelt(chain[29].hash!), acceptedOnL1: 12, problem: null },
  )
  assert.equal(node.lastHeaders['x-token'], 'tiptop')
  const block = async (id: unknown) => (await resultOf(server.url, 'starknet_getBlockWithTxHashes', [id])) as object
  assert.deepEqual({ ...(await block('latest')) }, nodeBlock(chain[29]).answer('starknet_getBlockWithTxHashes', 10))
  assert.equal(((await block({ block_number: 12 })) as { status: string }).status, 'ACCEPTED_ON_L1')
  assert.equal(((await block({ block_number: 13 })) as { status: string }).status, 'ACCEPTED_ON_L2')
  assert.equal(await resultOf(server.url, 'starknet_syncing'), false)
  await until(async () => !(await ask(server.url, 'starknet_getBlockWithTxHashes', ['pre_confirmed'])).error)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  assert.match(metrics, /^cairn_l2_follow_state\{state="following"\} 1$/m)
  assert.match(metrics, /^cairn_l2_upstream_head_block_number 29$/m)
  assert.doesNotMatch(metrics, /^cairn_follow_state/m)
  const { stderr } = await server.stop()
  for (const secret of [key, 'hunter2', 'abc987', 'tiptop']) {
    for (const text of [JSON.stringify(health), metrics, stderr]) assert.ok(!text.includes(secret), secret)
  }
  const status = await runCairnOk(['status', '--datadir', datadir])
  assert.match(status, /^layer-2 head {2}29 0x/m)
  assert.match(status, /^layer-2 {7}blocks 0 to 29, accepted on layer 1 up to 12$/m)
})

test('starknet_syncing reports the progress of a server that is behind', async (t) => {
  const chain = growL2([], 60)
  const node = await startL2Node(t, chain)
  // Blocks from 30 on are there, but do not come.
  let isOpen = false
  const held = node.blocks
  node.blocks = held.map((each) => ({
    ...each,
    answer: (method, minor) => {
      if (each.number >= 30 && method === 'starknet_getBlockWithReceipts' && !isOpen)
        throw new RpcFailure(24, 'not yet')
      return each.answer(method, minor)
    },
  }))
  const server = await startCairn(t, ['--datadir', temporaryDirectory(t), '--open', '--l2-upstream', node.url])
  await untilHealth(server, ({ l2Following, l2Head }) => l2Following?.state === 'syncing' && l2Head !== null)
  const progress = (await resultOf(server.url, 'starknet_syncing')) as Record<string, unknown>
  const current = Number(progress.current_block_num)
  assert.ok(current >= 0 && current < 30, `current block ${current}`)
  assert.deepEqual(progress, {
    starting_block_hash: formatFelt(chain[0].hash!),
    starting_block_num: 0,
    current_block_hash: formatFelt(chain[current].hash!),
    current_block_num: current,
    highest_block_hash: formatFelt(chain[59].hash!),
    highest_block_num: 59,
  })
  isOpen = true
  await untilHealth(server, ({ l2Head }) => l2Head?.number === 59)
  assert.equal(await resultOf(server.url, 'starknet_syncing'), false)
})

test('one process follows layer 1 and layer 2 into one database', async (t) => {
  const upstream = await serveFixture(t)
  const chain = growL2([], 25)
  const node = await startL2Node(t, chain)
  const genesis = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
  const args = ['--datadir', temporaryDirectory(t), '--open', ...genesis, '--upstream', upstream.url]
  const server = await startCairn(t, [...args, '--l2-feeder', node.url])
  await untilHealth(server, ({ following, l2Following }) => following?.block === HEAD && l2Following?.block === 24)
  node.become(growL2(chain.slice(0, 20), 10, 1).map(nodeBlock))
  const { l2Head } = await untilHealth(server, ({ l2Following }) => l2Following?.block === 29)
  assert.equal(l2Head!.hash, node.blocks[29].hash)
})

test('cairn sync needs something to follow, and refuses a feeder gateway over WebSocket', async (t) => {
  const none = await spawnCairn(['sync', '--datadir', temporaryDirectory(t)]).ended
  assert.equal(none.code, 2)
  assert.match(none.stderr, /--upstream URL, --l2-upstream URL or --l2-feeder URL is needed/)
  const socket = ['sync', '--datadir', temporaryDirectory(t), '--l2-feeder', 'ws://127.0.0.1:1']
  const refused = await spawnCairn(socket).ended
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /ws:\/\/127\.0\.0\.1:1: a feeder gateway needs an http or https URL/)
})
