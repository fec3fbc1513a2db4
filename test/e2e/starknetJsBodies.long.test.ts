import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { RpcProvider } from 'starknet'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { makeFullBlock } from '../support/chains/l2Blocks.js'
import { toRpcReceiptsJson, toRpcStateUpdateJson } from '../support/chains/l2Json.js'
import { ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* starknet.js reads blocks with everything in them from the program. */

type Json = Record<string, unknown>

const first = makeFullBlock({ number: 0 })
const blocks = [first, makeFullBlock({ number: 1, parentHash: first.hash })]

/** The members that a transaction of version 3 has besides its signature. */
const MEMBERS = {
  sender_address: '0x57a',
  calldata: ['0x1', '0x2'],
  nonce: '0x5',
  resource_bounds: Object.fromEntries(
    ['l1_gas', 'l1_data_gas', 'l2_gas'].map((name) => [name, { max_amount: '0x1', max_price_per_unit: '0x2' }]),
  ),
  tip: '0x0',
  paymaster_data: [],
  account_deployment_data: [],
  nonce_data_availability_mode: 'L1',
  fee_data_availability_mode: 'L1',
}

const recordings = blocks.map((block) => {
  const json = JSON.parse(JSON.stringify(toRpcReceiptsJson(block, 10)))
  const { transactions, ...header } = json as { transactions: { transaction: Json }[] }
  const whole = transactions.map((pair) => ({ ...pair, transaction: { ...pair.transaction, ...MEMBERS } }))
  return { block: { ...header, transactions: whole }, state_update: toRpcStateUpdateJson(block) }
})

const datadir = temporaryDirectory({ after })
const file = join(datadir, 'blocks.ndjson')
writeFileSync(file, recordings.map((recording) => JSON.stringify(recording)).join('\n'))
await runCairnOk(['import', '--datadir', datadir, '--l2-verify', 'off', file])
const server = await startCairn({ after }, ['--datadir', datadir, '--open'])
const provider = await RpcProvider.create({ nodeUrl: server.url })

const [hash, reverted] = blocks[1].transactionHashes.map(formatFelt)

test('starknet.js reads a block with transactions and with receipts', async () => {
  assert.deepEqual(await provider.getBlockWithReceipts(1), recordings[1].block)
  const { transactions } = await provider.getBlockWithTxs(1)
  const expected = recordings[1].block.transactions.map(({ transaction }, i) => ({
    transaction_hash: [hash, reverted][i],
    ...transaction,
  }))
  assert.deepEqual(transactions, expected)
  assert.deepEqual(await provider.getTransactionByHash(hash), expected[0])
  assert.deepEqual(await provider.getTransactionByBlockIdAndIndex(1, 1), expected[1])
})

test('starknet.js reads receipts, statuses and state updates', async () => {
  const receipt = await provider.getTransactionReceipt(reverted)
  assert.ok(receipt.isReverted())
  assert.equal(receipt.value.revert_reason, 'out of gas')
  assert.deepEqual(await provider.getTransactionStatus(reverted), {
    finality_status: 'ACCEPTED_ON_L2',
    execution_status: 'REVERTED',
    failure_reason: 'out of gas',
  })
  assert.deepEqual(await provider.getStateUpdate(1), recordings[1].state_update)
  await assert.rejects(provider.getTransactionByHash('0x123'), /29: Transaction hash not found/)
})

test('starknet.js reads events page by page', async () => {
  const filter = { from_block: { block_number: 0 }, to_block: { block_number: 1 }, address: '0x57a', keys: [['0x1']] }
  const found: string[] = []
  for (let continuation_token: string | undefined; ; ) {
    const page = await provider.getEvents({ ...filter, chunk_size: 3, continuation_token })
    found.push(...page.events.map((event) => event.transaction_hash))
    continuation_token = page.continuation_token
    if (continuation_token === undefined) break
  }
  assert.deepEqual(
    found,
    blocks.flatMap(({ transactionHashes }) => transactionHashes.map(formatFelt)),
  )
})

test('methods that Cairn cannot answer say why', async () => {
  const messageOf = async (method: string) => (await ask(server.url, method, [])).error
  assert.deepEqual(await messageOf('starknet_call'), {
    code: -32601,
    message:
      'the method starknet_call does not exist/is not available: it needs Cairo execution, which Cairn does not have',
  })
  for (const method of ['starknet_estimateFee', 'starknet_traceTransaction', 'starknet_getStorageProof']) {
    assert.match((await messageOf(method))?.message ?? '', /is not available: /)
  }
})
