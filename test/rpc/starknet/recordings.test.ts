import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hash } from 'starknet'
import { openRecording } from '../../../src/chain/starknet/recording/recording.js'
import { parseJsonExact } from '../../../src/lib/json.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'
import { openStarknet } from '../../support/upstream/l2Rpc.js'

/* What is served from recordings in ../shared/l2 is what was recorded: by the RPC as it was, and by the gateway in the
 * shape of the RPC. */

type Json = Record<string, unknown>
const skip = SKIP_SHARED

const readJson = (name: string) => parseJsonExact(readFileSync(sharedPath('l2', name)!, 'utf8'))
const blockOf = (name: string) => openRecording(readJson(name)).block.value as Json

interface Pair {
  transaction: Json
  receipt: Json & { transaction_hash: string; messages_sent: Json[]; execution_resources: Json }
}

/** A recorded transaction and its receipt as specification 0.9 has them: gas in place of the steps of 0.6 and 0.7,
 *  bounds of L1 data gas, and no leading zeros. */
function asNow({ transaction, receipt }: Pair): Pair {
  const { execution_resources: resources, messages_sent: messages } = receipt
  const gas = 'l2_gas' in resources ? resources : { l1_gas: 0, l1_data_gas: 0, l2_gas: 0 }
  const { transaction_hash: _, ...rest } = transaction
  const zero = { max_amount: '0x0', max_price_per_unit: '0x0' }
  const bounds = rest.resource_bounds as Json | undefined
  return {
    transaction: bounds ? { ...rest, resource_bounds: { l1_data_gas: zero, ...bounds } } : rest,
    receipt: {
      ...receipt,
      messages_sent: messages.map((message) => ({ ...message, to_address: felts([message.to_address])[0] })),
      execution_resources: gas,
    },
  }
}

const felts = (values: unknown) => (values as string[]).map((value) => `0x${BigInt(value).toString(16)}`)

for (const name of [
  'sepolia-3100000-0.14.1-receipts.json',
  'sepolia-1833335-0.14.0-receipts.json',
  'integration-sepolia-332275-0.13.1-receipts.json',
  'mainnet-1-nover.json',
]) {
  test(`rpc/${name} is served as it was recorded`, { skip }, async (t) => {
    const { ask, importFile } = openStarknet(t)
    await importFile(sharedPath('l2', `rpc/${name}`)!, { verify: 'off' })
    const recorded = blockOf(`rpc/${name}`)
    const pairs = (recorded.transactions as Pair[]).map(asNow)
    const block = (await ask('starknet_getBlockWithReceipts', ['latest'])) as Json
    assert.deepEqual(block.transactions, pairs)
    const { transactions: _, ...header } = block
    for (const [member, value] of Object.entries(recorded)) {
      // A publisher that does not have the commitments fills them with zeros.
      const isCount = /_(count|length)$/.test(member) // recounted
      if (member in header && !isCount) assert.deepEqual(header[member], value, member)
      else assert.ok(member === 'transactions' || value === '0x0' || isCount, member)
    }
    const withTxs = (await ask('starknet_getBlockWithTxs', ['latest'])) as Json
    const hashes = pairs.map(({ receipt }) => receipt.transaction_hash)
    const transactions = pairs.map(({ transaction }, i) => ({ transaction_hash: hashes[i], ...transaction }))
    assert.deepEqual(withTxs, { ...header, transactions })
    for (const [i, hash] of hashes.entries()) {
      assert.deepEqual(await ask('starknet_getTransactionByHash', [hash]), transactions[i])
      assert.deepEqual(await ask('starknet_getTransactionByBlockIdAndIndex', ['latest', i]), transactions[i])
      const place = { block_hash: recorded.block_hash, block_number: recorded.block_number }
      assert.deepEqual(await ask('starknet_getTransactionReceipt', [hash]), { ...pairs[i].receipt, ...place })
    }
  })
}

test('every whole recording of the gateway is served as transactions, receipts and events', { skip }, async (t) => {
  const folder = sharedPath('l2', 'feeder')!
  for (const file of readdirSync(folder)) {
    if (/state-update|preconfirmed|pending/.test(file)) continue
    const { ask, answer, importFile, close } = openStarknet(t)
    await importFile(join(folder, file), { verify: 'off' })
    const recorded = blockOf(`feeder/${file}`)
    const receipts = recorded.transaction_receipts as Json[]
    // The oldest shape lacks events, and classes of deployments.
    const lacksClass = (recorded.transactions as Json[]).some((each) => each.type === 'DEPLOY' && !each.class_hash)
    if (lacksClass || receipts.some((receipt) => !receipt.events)) {
      const outcome = await answer('starknet_getBlockWithReceipts', ['latest'])
      assert.match('error' in outcome ? outcome.error.message : '', /^layer-2 block \d+ is stored without /, file)
      close()
      continue
    }
    const block = (await ask('starknet_getBlockWithReceipts', ['latest'])) as { transactions: Json[] }
    assert.equal(block.transactions.length, receipts.length, file)
    const expected = receipts.flatMap((receipt) =>
      (receipt.events as Json[]).map(({ from_address, keys, data }) => ({
        from_address: felts([from_address])[0],
        keys: felts(keys),
        data: felts(data),
        transaction_hash: felts([receipt.transaction_hash])[0],
      })),
    )
    const found: Json[] = []
    const block_id = { block_number: recorded.block_number }
    for (let continuation_token: unknown; ; ) {
      const filter = { from_block: block_id, to_block: block_id, chunk_size: 100, continuation_token }
      const page = (await ask('starknet_getEvents', [filter])) as { events: Json[]; continuation_token?: string }
      found.push(...page.events)
      continuation_token = page.continuation_token
      if (continuation_token === undefined) break
    }
    const bare = found.map(({ from_address, keys, data, transaction_hash }) => ({
      from_address,
      keys,
      data,
      transaction_hash,
    }))
    assert.deepEqual(bare, expected, file)
    close()
  }
})

test('message hashes and contract addresses are those that starknet.js computes', { skip }, async (t) => {
  const { ask, importFile } = openStarknet(t)
  const receipts: Json[] = []
  const pairsOf = async (name: string, number: number) => {
    await importFile(sharedPath('l2', `feeder/${name}`)!, { verify: 'off' })
    const block = (await ask('starknet_getBlockWithReceipts', [{ block_number: number }])) as { transactions: Pair[] }
    return block.transactions
  }
  for (const { transaction, receipt } of [
    ...(await pairsOf('sepolia-6-0.12.3.json', 6)),
    ...(await pairsOf('sepolia-7-0.12.3.json', 7)),
    ...(await pairsOf('mainnet-550000-0.13.0.json', 550_000)),
  ]) {
    const { type, contract_address: to, entry_point_selector: selector, nonce, calldata } = transaction
    if (type === 'L1_HANDLER') {
      const [from, ...payload] = calldata as string[]
      const message = hash.getL2MessageHash(from, to as string, selector as string, payload, nonce as string)
      assert.equal(receipt.message_hash, message)
      receipts.push(receipt)
    } else if (type === 'DEPLOY_ACCOUNT') {
      const { contract_address_salt: salt, class_hash: classHash, constructor_calldata: args } = transaction
      const address = hash.calculateContractAddressFromHash(salt as string, classHash as string, args as string[], 0)
      assert.equal(receipt.contract_address, address)
      receipts.push(receipt)
    }
  }
  assert.deepEqual(new Set(receipts.map(({ type }) => type)), new Set(['L1_HANDLER', 'DEPLOY_ACCOUNT']))
})
