import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Block } from '../../src/chain/eth/types.js'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { formatData } from '../../src/lib/hex.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch } from '../support/chains/branches.js'
import { encodeChain } from '../support/chains/fixture.js'
import { toRpcJson } from '../support/chains/l2Blocks.js'
import { CORE_CONTRACT, L2_CHAIN } from '../support/chains/stateUpdateLogs.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'
import { openSubscriber } from '../support/webSocketClient.js'

const CONTRACT = ['--l2-core-contract', formatData(CORE_CONTRACT)]

/** Files for the program: the genesis of the layer-1 chain, and the layer-2 blocks. */
function writeFiles(t: TestContext) {
  const folder = temporaryDirectory(t)
  const [genesis, l2, l1] = ['genesis.json', 'l2.ndjson', 'chain.rlp'].map((name) => join(folder, name))
  writeFileSync(genesis, JSON.stringify(BRANCHES_GENESIS))
  writeFileSync(l2, L2_CHAIN.map((block) => `${JSON.stringify(toRpcJson(block))}\n`).join(''))
  return { genesis, l2, l1, writeL1: (blocks: readonly Block[]) => writeFileSync(l1, encodeChain(blocks)) }
}

interface WithStatus {
  status: string
  block_number: number
}

/** Numbers of the layer-2 blocks that a server calls accepted on layer 1, by both names of the method. */
async function acceptedOn(url: string): Promise<number[]> {
  const accepted: number[] = []
  for (const { number, hash } of L2_CHAIN) {
    const zk = await resultOf<WithStatus>(url, 'zk_getBlockWithTxHashes', [{ block_number: number }])
    const id = { block_hash: formatFelt(hash!) }
    const starknet = await resultOf<WithStatus>(url, 'starknet_getBlockWithTxHashes', [id])
    assert.equal(zk.status, starknet.status)
    if (zk.status === 'ACCEPTED_ON_L1') accepted.push(number!)
    else assert.equal(zk.status, 'ACCEPTED_ON_L2')
  }
  return accepted
}

const upTo = (number: number) => Array.from({ length: number + 1 }, (_, i) => i)

/** Blocks with state updates of these layer-2 blocks, one each. */
async function growAccepting(t: TestContext, trunk: readonly Block[], numbers: readonly number[]): Promise<Block[]> {
  const random = seededRandom(trunk.length * 100 + numbers.length)
  const accepts = numbers.map((number) => L2_CHAIN[number])
  const fixed = { below: () => 0, bytes: random.bytes } // no random transactions
  const branch = { trunk, count: numbers.length, random: fixed, accepts }
  return [...trunk, ...(await growBranch(temporaryDirectory(t), branch))]
}

test('imported layer-1 blocks promote imported layer-2 blocks, in whichever order the files come', async (t) => {
  const { genesis, l2, l1, writeL1 } = writeFiles(t)
  writeL1(await growAccepting(t, [], [2, 5]))
  for (const files of [
    [l1, l2],
    [l2, l1],
  ]) {
    const datadir = temporaryDirectory(t)
    for (const file of files) {
      await runCairnOk(['import', '--datadir', datadir, '--genesis', genesis, ...CONTRACT, file])
    }
    const server = await startCairn(t, ['--datadir', datadir, '--open'])
    assert.deepEqual(await acceptedOn(server.url), upTo(5))
    const newest = await resultOf<WithStatus>(server.url, 'starknet_getBlockWithTxHashes', ['l1_accepted'])
    assert.equal(newest.block_number, 5)
    await server.stop()
    assert.match(await runCairnOk(['verify', '--datadir', datadir, '--l2']), /layer 2: 31 blocks are right/)
  }
})

test('a server that follows layer 1 promotes with its blocks, and a reorg takes that back with the new head', async (t) => {
  const { genesis, l2 } = writeFiles(t)
  const trunk = await growAccepting(t, [], [1, -1])
  const upstream = await startForkingUpstream(t, trunk)
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, l2])
  const follow = ['--genesis', genesis, '--upstream', upstream.wsUrl, ...CONTRACT]
  const server = await startCairn(t, ['--datadir', datadir, '--open', ...follow])
  const client = await openSubscriber(t, server.url)
  await client.ask('eth_subscribe', 'newHeads')
  const becomes = async (blocks: readonly Block[]) => {
    await upstream.become(blocks)
    await client.untilHead(blocks.at(-1)!.hash)
  }
  const longer = await growAccepting(t, trunk, [7, 9])
  await becomes(longer)
  assert.deepEqual(await acceptedOn(server.url), upTo(9))
  await becomes(await growAccepting(t, longer.slice(0, 3), [-1, -1]))
  assert.deepEqual(await acceptedOn(server.url), upTo(7))
  await becomes(await growAccepting(t, trunk.slice(0, 1), [-1, -1, -1, -1, -1]))
  assert.deepEqual(await acceptedOn(server.url), upTo(1))
})
