import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatFelt } from '../../../../src/chain/starknet/felt.js'
import type { L2NetworkName } from '../../../../src/chain/starknet/networks.js'
import { openL2Database } from '../../../support/chains/l2.js'
import { makeFullBlock } from '../../../support/chains/l2Blocks.js'
import { SKIP_SHARED } from '../../../support/shared.js'
import { temporaryDirectory } from '../../../support/temporary.js'
import { checkL2Chain, followL2, hashesOf, L2_ROUTES } from '../../../support/upstream/followL2.js'
import { nodeBlock, startL2Node } from '../../../support/upstream/l2Node.js'
import { readRecorded, recordedBlock, withStatus } from '../../../support/upstream/l2RecordedNode.js'

const skip = SKIP_SHARED

type After = { after(callback: () => void): void }

function openHere(t: After) {
  const database = openL2Database(temporaryDirectory(t))
  t.after(() => database.close())
  return database
}

const countVerified = ({ db }: ReturnType<typeof openHere>) =>
  db.prepare<[], number>('SELECT count(*) FROM l2_blocks WHERE canonical = 1 AND verified = 1').pluck().get()

/** Linked runs of recorded blocks, by network. */
const RUNS: readonly { network: L2NetworkName; names: readonly string[] }[] = [
  { network: 'mainnet', names: ['mainnet-0-nover', 'mainnet-1-nover-2', 'mainnet-2-nover-su'] },
  { network: 'sepolia', names: ['sepolia-0-0.12.3-su', 'sepolia-1-0.12.3', 'sepolia-2-0.12.3-su'] },
  { network: 'sepolia', names: ['sepolia-6-0.12.3', 'sepolia-7-0.12.3'] },
  { network: 'sepolia', names: ['sepolia-100000-0.13.2-su'] },
  { network: 'integration-sepolia', names: ['integration-sepolia-63881-0.13.4'] },
  { network: 'integration-sepolia', names: ['integration-sepolia-3077642-0.14.1-su'] },
]

for (const { network, names } of RUNS) {
  for (const route of L2_ROUTES) {
    test(`${names.join(', ')} are followed over ${route}, each hash recomputed`, { skip }, async (t) => {
      const database = openHere(t)
      const node = await startL2Node(t)
      node.blocks = names.map((name) => recordedBlock(`feeder/${name}.json`))
      node.chainId = network === 'mainnet' ? 'SN_MAIN' : 'SN_SEPOLIA'
      // Headers have commitments since 0.10; before, the state diff is asked for.
      node.minor = /0\.1[23].*-su$/.test(names.at(-1)!) ? 9 : 10
      const followed = followL2(t, database, [node], { route, from: node.blocks[0].number })
      await followed.reaches(node)
      checkL2Chain(database, node)
      assert.equal(countVerified(database), names.length)
      const last = database.reader.blockByNumber(node.blocks.at(-1)!.number)!
      assert.equal(last.status, 'ACCEPTED_ON_L1')
    })
  }
}

test('a block as an RPC node gave it is followed', { skip }, async (t) => {
  const database = openHere(t)
  const node = await startL2Node(t)
  node.minor = 10
  node.blocks = [recordedBlock('rpc/sepolia-3100000-0.14.1-receipts.json')]
  const followed = followL2(t, database, [node], { from: 3_100_000 })
  await followed.reaches(node)
  assert.equal(countVerified(database), 1)
  assert.equal(database.reader.chainId(), 0x534e5f5345504f4c4941n)
})

for (const route of L2_ROUTES) {
  test(`a fork of recorded blocks over ${route} leaves the recorded one`, { skip }, async (t) => {
    const database = openHere(t)
    const node = await startL2Node(t)
    const [zero, one, two] = ['0-0.12.3-su', '1-0.12.3', '2-0.12.3-su'].map((name) =>
      recordedBlock(`feeder/sepolia-${name}.json`),
    )
    const [zeroHeld, oneHeld, twoHeld] = [zero, one, two].map((block) => withStatus(block, 'ACCEPTED_ON_L2'))
    const other = makeFullBlock({ number: 2, parentHash: BigInt(one.hash) })
    node.blocks = [zeroHeld, oneHeld, nodeBlock(other)]
    const followed = followL2(t, database, [node], { route })
    await followed.reaches(node)
    node.become([zeroHeld, oneHeld, twoHeld])
    await followed.reaches(node)
    assert.equal(database.reader.blockByHash(other.hash!)!.status, 'REJECTED')
    assert.equal(hashesOf(database.reader)[2], two.hash)
  })
}

test('a recorded block is promoted when the upstream calls it accepted, and a rejected one is not stored', {
  skip,
}, async (t) => {
  const database = openHere(t)
  const node = await startL2Node(t)
  const before = recordedBlock('feeder/goerli-183471-nover-l2.json')
  node.blocks = [withStatus(before, 'ABORTED')]
  const followed = followL2(t, database, [node], { route: 'the feeder gateway', from: 183_471 })
  const asked = () => node.calls.filter((method) => method === 'get_block').length
  await followed.until(() => asked() > 5)
  assert.equal(database.reader.head(), undefined)
  node.become([before])
  await followed.reaches(node)
  assert.equal(database.reader.blockByNumber(183_471)!.status, 'ACCEPTED_ON_L2')
  node.blocks = [recordedBlock('feeder/goerli-183471-nover.json')]
  await followed.until(() => database.reader.blockByNumber(183_471)!.status === 'ACCEPTED_ON_L1')
})

test('a recorded pre-confirmed block stands on the newest one', { skip }, async (t) => {
  const database = openHere(t)
  const node = await startL2Node(t)
  node.blocks = [recordedBlock('feeder/integration-sepolia-3077642-0.14.1-su.json')]
  const feeder = readRecorded('feeder/integration-sepolia-preconfirmed-0.14.0.json')
  node.pending = { rpc: {}, feeder }
  const followed = followL2(t, database, [node], { route: 'the feeder gateway', from: 3_077_642 })
  await followed.until(() => database.reader.pending() !== undefined)
  const { number, parentHash, transactionHashes } = database.reader.pending()!
  assert.deepEqual([number, formatFelt(parentHash!)], [3_077_643, node.blocks[0].hash])
  assert.equal(transactionHashes.length, (feeder.transactions as unknown[]).length)
})
