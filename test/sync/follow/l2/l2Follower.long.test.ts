import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { formatFelt } from '../../../../src/chain/starknet/felt.js'
import { readL2Body } from '../../../../src/rpc/starknet/body.js'
import { L2ReorgBelowAccepted } from '../../../../src/store/l2/l2Writer.js'
import { openL2Database } from '../../../support/chains/l2.js'
import { growL2, makeFullBlock, makePending, toRpcJson } from '../../../support/chains/l2Blocks.js'
import { toFeederJson, toRpcHeaderJson } from '../../../support/chains/l2Json.js'
import { temporaryDirectory } from '../../../support/temporary.js'
import { THOROUGH } from '../../../support/thorough.js'
import { checkL2Chain, checkL2Hashes, followL2, hashesOf, L2_ROUTES } from '../../../support/upstream/followL2.js'
import { nodeBlock, startL2Node } from '../../../support/upstream/l2Node.js'

type After = { after(callback: () => void): void }

function openHere(t: After, directory = temporaryDirectory(t)) {
  const database = openL2Database(directory)
  t.after(() => database.close())
  return { ...database, directory }
}

for (const route of L2_ROUTES) {
  test(`follows appends and forks over ${route}, with the statuses and the unconfirmed block of the node`, async (t) => {
    const database = openHere(t)
    const { reader } = database
    let chain = growL2([], 26)
    const node = await startL2Node(t, chain)
    const followed = followL2(t, database, [node], { route })
    await followed.reaches(node)
    const removed: string[] = []
    for (const [i, depth] of [0, 1, 0, 5, 17].entries()) {
      const gone = chain.slice(chain.length - depth)
      if (depth > 0) removed.push(...gone.map(({ hash }) => formatFelt(hash!)))
      chain = growL2(chain.slice(0, chain.length - depth), depth + 1 + i, i + 1)
      node.become(chain.map(nodeBlock))
      await followed.reaches(node)
      if (THOROUGH) checkL2Chain(database, node)
      else checkL2Hashes(database, node)
    }
    checkL2Chain(database, node) // with the removed blocks, which stay in the database
    for (const hash of removed) assert.equal(reader.blockByHash(BigInt(hash))!.status, 'REJECTED')
    const { reorgs, removedBlocks, block, state } = followed.figures.status()
    assert.deepEqual(
      { reorgs, removedBlocks, block, state },
      { reorgs: 3, removedBlocks: 23, block: chain.length - 1, state: 'following' },
    )
    node.acceptedOnL1 = 20
    await followed.until(() => reader.blockByNumber(20)!.status === 'ACCEPTED_ON_L1')
    assert.equal(reader.blockByNumber(21)!.status, 'ACCEPTED_ON_L2')
    node.acceptedOnL1 = 10
    await followed.reaches(node)
    const number = chain.length
    const pending = makePending({
      number,
      status: 'PRE_CONFIRMED',
      transactions: [],
      receipts: [],
      transactionHashes: [],
    })
    const { status: _, parent_hash: __, ...rpc } = toRpcJson(pending) as Record<string, unknown>
    node.pending = { rpc, feeder: { ...toFeederJson(pending), transaction_state_diffs: [] } }
    await followed.until(() => reader.pending() !== undefined)
    assert.deepEqual([reader.pending()!.number, reader.pending()!.parentHash], [number, chain.at(-1)!.hash])
    node.pending = undefined
    await followed.until(() => reader.pending() === undefined)
    assert.equal(reader.blockByNumber(20)!.status, 'ACCEPTED_ON_L1', 'acceptance never goes back')
  })
}

for (const minor of [6, 7, 8, 9, 10]) {
  test(`backfills from a node with JSON-RPC 0.${minor}`, async (t) => {
    const database = openHere(t)
    const node = await startL2Node(t, growL2([], 12))
    node.minor = minor
    node.acceptedOnL1 = 5
    const followed = followL2(t, database, [node])
    await followed.reaches(node)
    checkL2Chain(database, node)
    await followed.until(() => database.reader.blockByNumber(5)!.status === 'ACCEPTED_ON_L1')
    assert.equal(database.reader.blockByNumber(6)!.status, 'ACCEPTED_ON_L2')
    const verified = database.db.prepare<[], number>('SELECT count(*) FROM l2_blocks WHERE verified = 1').pluck().get()
    // Before 0.8 receipts lack the gas, and blocks the price of L2 gas, which hashes cover.
    assert.equal(verified, minor >= 8 ? 12 : 0)
    const warned = followed.lines.filter(({ message }) => /cannot be recomputed/.test(message))
    assert.equal(warned.length, minor >= 8 ? 0 : 1)
    const { stateDiff, receipts } = readL2Body(database.reader, database.reader.blockByNumber(3)!).block
    assert.ok(stateDiff !== undefined && receipts?.length === 2, 'receipts and state updates are kept')
  })
}

test('resumes from the newest stored block after a restart, and begins at the block that is named', async (t) => {
  const chain = growL2([], 30)
  const node = await startL2Node(t, chain.slice(0, 20))
  const first = openHere(t)
  const followed = followL2(t, first, [node], { from: 2 })
  await followed.until(() => first.reader.head()?.number === 19)
  await followed.stop()
  assert.equal(first.reader.first()!.number, 2)
  node.become(chain.map(nodeBlock))
  node.calls.length = 0
  const again = followL2(t, first, [node])
  await again.until(() => first.reader.head()?.number === 29)
  const blocks = node.calls.filter((method) => method === 'starknet_getBlockWithReceipts').length
  // The 10 new ones and the newest held, some twice where the node is slow; all from the first on would be 28.
  assert.ok(blocks < 28, `asked for ${blocks} blocks`)
  assert.deepEqual(
    hashesOf(first.reader),
    chain.slice(2).map(({ hash }) => formatFelt(hash!)),
  )
})

test('a fork that would remove blocks accepted on layer 1 ends following, and leaves the chain as it was', async (t) => {
  const database = openHere(t)
  const chain = growL2([], 20)
  const node = await startL2Node(t, chain)
  node.acceptedOnL1 = 15
  const followed = followL2(t, database, [node])
  await followed.until(() => database.reader.blockAcceptedOnL1()?.number === 15)
  const before = hashesOf(database.reader)
  node.become(growL2(chain.slice(0, 12), 12, 3).map(nodeBlock))
  await assert.rejects(followed.ended, (error: unknown) => {
    assert.ok(error instanceof L2ReorgBelowAccepted)
    assert.deepEqual([error.ancestor, error.acceptedOnL1], [11, 15])
    return true
  })
  assert.deepEqual(hashesOf(database.reader), before)
})

for (const status of ['REJECTED', 'REVERTED', 'ABORTED'] as const) {
  test(`a block that the node calls ${status} is not stored, and the one that replaces it is`, async (t) => {
    const database = openHere(t)
    const chain = growL2([], 6)
    const node = await startL2Node(t, chain)
    const rejected = makeFullBlock({ number: 6, parentHash: chain[5].hash, newRoot: 9n, status })
    const followed = followL2(t, database, [node], { route: 'the feeder gateway' })
    await followed.reaches(node)
    node.become([...chain, rejected].map(nodeBlock))
    const asked = () => node.calls.filter((method) => method === 'get_block').length
    const before = asked()
    await followed.until(() => asked() > before + 4)
    assert.equal(database.reader.blockByHash(rejected.hash!), undefined)
    node.become(growL2(chain, 3, 8).map(nodeBlock))
    await followed.reaches(node)
    assert.equal(database.reader.blockByHash(rejected.hash!), undefined)
  })
}

test('of two nodes on two forks one is followed, and the other one when that fails', async (t) => {
  const database = openHere(t)
  const chain = growL2([], 15)
  const [one, two] = [await startL2Node(t, chain), await startL2Node(t, growL2(chain.slice(0, 10), 3, 4))]
  const followed = followL2(t, database, [one, two])
  await followed.until(() => [one, two].some((node) => hashesOf(database.reader).at(-1) === node.blocks.at(-1)!.hash))
  two.fault = { name: 'cuts', respond: (response) => response.destroy() }
  one.become(growL2(chain, 5).map(nodeBlock))
  await followed.reaches(one)
  checkL2Chain(database, one)
})

test('a node with another block in place of the first one, which layer 1 accepted, is refused', async (t) => {
  const database = openHere(t)
  const node = await startL2Node(t, growL2([], 3))
  node.acceptedOnL1 = 1
  const followed = followL2(t, database, [node])
  await followed.until(() => database.reader.blockAcceptedOnL1()?.number === 1)
  await followed.stop()
  node.become(growL2([], 9, 1).map(nodeBlock))
  await assert.rejects(followL2(t, database, [node]).ended, /block hash: expected 0x[0-9a-f]+ of this database/)
})

test('a node of another chain is refused by name', async (t) => {
  const [right, wrong] = [await startL2Node(t, growL2([], 3)), await startL2Node(t, growL2([], 3, 1))]
  wrong.chainId = 'SN_MAIN'
  const database = openHere(t)
  const followed = followL2(t, database, [right, wrong], { network: 'sepolia' })
  await assert.rejects(followed.ended, /chain id: expected SN_SEPOLIA of this database, the upstream has SN_MAIN/)
})

test('a fork is found across a gap between the blocks held, and a node within the gap changes nothing', async (t) => {
  const database = openHere(t)
  const chain = growL2([], 40)
  for (const block of chain.filter((_, i) => i < 8 || i >= 25)) {
    database.writer.importBlock(block, { kind: 'unchecked' }, deflateSync(JSON.stringify(toRpcHeaderJson(block, 10))))
  }
  const node = await startL2Node(t, chain.slice(0, 16))
  const followed = followL2(t, database, [node])
  const asked = () => node.calls.filter((method) => method === 'starknet_blockHashAndNumber').length
  await followed.until(() => asked() > 5)
  assert.equal(database.reader.head()!.number, 39)
  const branch = growL2(chain.slice(0, 28), 14, 5)
  node.become(branch.map(nodeBlock))
  await followed.until(() => database.reader.head()!.hash === branch.at(-1)!.hash)
  const expected = branch.filter((_, i) => i < 8 || i >= 25).map(({ hash }) => formatFelt(hash!))
  assert.deepEqual(hashesOf(database.reader), expected)
})
