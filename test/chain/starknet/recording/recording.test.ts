import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidL2Recording } from '../../../../src/chain/starknet/recording/fields.js'
import { readL2Recording } from '../../../../src/chain/starknet/recording/recording.js'
import { parseJsonExact } from '../../../../src/lib/json.js'
import { makeBlock, toRpcJson } from '../../../support/chains/l2Blocks.js'

/** A made-up feeder block with one transaction. */
function makeFeederJson(values: object = {}) {
  return {
    status: 'ACCEPTED_ON_L1',
    block_hash: '0x05',
    parent_block_hash: '0x4',
    block_number: 3,
    state_root: '0ab',
    timestamp: 1_640_000_000,
    transactions: [
      {
        type: 'INVOKE_FUNCTION',
        transaction_hash: '0x7',
        signature: ['12', '0x0c'],
        calldata: ['5'],
      },
    ],
    transaction_receipts: [
      {
        transaction_hash: '0x7',
        transaction_index: 0,
        events: [{ from_address: '0x1', keys: ['0x2'], data: ['0x3', '4'] }],
        l2_to_l1_messages: [{ from_address: '0x1', to_address: '0x00Ab', payload: ['12'] }],
        execution_resources: { n_steps: 1, total_gas_consumed: { l1_gas: 1, l1_data_gas: 2, l2_gas: 3 } },
        actual_fee: '0x10',
      },
    ],
    ...values,
  }
}

test('the oldest feeder shape: bare root, decimal felts, no version, no prices', () => {
  const block = readL2Recording(makeFeederJson())
  assert.equal(block.status, 'ACCEPTED_ON_L1')
  assert.deepEqual([block.number, block.hash, block.parentHash, block.newRoot], [3, 5n, 4n, 0xabn])
  assert.equal(block.version, '')
  assert.equal(block.sequencer, undefined)
  assert.deepEqual(Object.values(block.prices), Array(6).fill(undefined))
  assert.deepEqual(block.transactions, [{ hash: 7n, kind: 'INVOKE', signature: [12n, 12n] }])
  assert.deepEqual(block.receipts, [
    {
      transactionHash: 7n,
      events: [{ fromAddress: 1n, keys: [2n], data: [3n, 4n] }],
      messages: [{ fromAddress: 1n, toAddress: 0xabn, payload: [12n] }],
      actualFee: 16n,
      revertReason: undefined,
      gasConsumed: { l1Gas: 1n, l1DataGas: 2n, l2Gas: 3n },
    },
  ])
})

test('gas prices in each of their three feeder shapes', () => {
  const prices = (values: object) => {
    const { l1Wei, l1Fri, l1DataWei, l2Fri } = readL2Recording(makeFeederJson(values)).prices
    return [l1Wei, l1Fri, l1DataWei, l2Fri]
  }
  assert.deepEqual(prices({ gas_price: '0x5' }), [5n, undefined, undefined, undefined])
  assert.deepEqual(prices({ eth_l1_gas_price: '0x5', strk_l1_gas_price: '0x6' }), [5n, 6n, undefined, undefined])
  const price = { price_in_wei: '0xffffffffffffffffffffffffffffffff', price_in_fri: '0x6' }
  const objects = { l1_gas_price: price, l1_data_gas_price: price, l2_gas_price: price }
  assert.deepEqual(prices(objects), [2n ** 128n - 1n, 6n, 2n ** 128n - 1n, 6n])
})

test('null is as good as absent', () => {
  const nulls = { sequencer_address: null, starknet_version: null, receipt_commitment: null, state_diff_length: null }
  const block = readL2Recording(makeFeederJson(nulls))
  assert.equal(block.version, '')
  assert.deepEqual([block.sequencer, block.counts.stateDiffLength], [undefined, undefined])
})

test('a reverted transaction stays, with the reason in its receipt', () => {
  const [receipt] = makeFeederJson().transaction_receipts
  const reverted = { ...receipt, execution_status: 'REVERTED', revert_error: 'why' }
  const block = readL2Recording(makeFeederJson({ transaction_receipts: [reverted] }))
  assert.deepEqual(block.transactionHashes, [7n])
  assert.equal(block.receipts![0].revertReason, 'why')
})

test('a state update beside its block gives the state diff', () => {
  const stateUpdate = {
    block_hash: '0x5',
    new_root: '0xab',
    state_diff: {
      storage_diffs: { '0x1': [{ key: '0x2', value: '0x3' }] },
      nonces: { '0x4': '0x5' },
      deployed_contracts: [{ address: '0x6', class_hash: '0x7' }],
      old_declared_contracts: ['0x8'],
      declared_classes: [{ class_hash: '0x9', compiled_class_hash: '0xa' }],
      replaced_classes: [],
    },
  }
  const { stateDiff } = readL2Recording({ block: makeFeederJson(), state_update: stateUpdate })
  assert.deepEqual(stateDiff, {
    storage: [{ address: 1n, entries: [{ key: 2n, value: 3n }] }],
    nonces: [{ address: 4n, nonce: 5n }],
    deployedContracts: [{ address: 6n, classHash: 7n }],
    replacedClasses: [],
    declaredClasses: [{ classHash: 9n, compiledClassHash: 10n }],
    migratedClasses: [],
    declaredLegacyClasses: [8n],
  })
  for (const other of [{ block_hash: '0x6' }, { new_root: '0xac' }]) {
    const mixed = { block: makeFeederJson(), state_update: { ...stateUpdate, ...other } }
    assert.throws(() => readL2Recording(mixed), /beside it/)
  }
  assert.throws(() => readL2Recording(stateUpdate), /state update without its block/)
})

test('unconfirmed blocks of the feeder: pending without number, pre-confirmed without parent too', () => {
  const members = { block_hash: undefined, block_number: undefined, state_root: undefined }
  const pending = readL2Recording(makeFeederJson({ ...members, status: 'PENDING' }))
  assert.deepEqual([pending.status, pending.parentHash, pending.hash], ['PENDING', 4n, undefined])
  const json = makeFeederJson({
    ...members,
    status: 'PRE_CONFIRMED',
    parent_block_hash: undefined,
    transaction_receipts: [null],
  })
  const preConfirmed = readL2Recording(json)
  assert.deepEqual([preConfirmed.status, preConfirmed.parentHash], ['PRE_CONFIRMED', undefined])
  assert.equal(preConfirmed.receipts, undefined)
})

test('RPC blocks with hashes, with transactions and with receipts, in an envelope or not', () => {
  const block = makeBlock({ number: 5 })
  const json = toRpcJson(block)
  assert.deepEqual(readL2Recording(json), block)
  assert.deepEqual(readL2Recording({ jsonrpc: '2.0', id: 1, result: json }), block)
  const transaction = { type: 'INVOKE', transaction_hash: '0x33', signature: ['0x1'] }
  const receipt = {
    type: 'INVOKE',
    transaction_hash: '0x33',
    actual_fee: { amount: '0x9', unit: 'FRI' },
    execution_status: 'REVERTED',
    revert_reason: 'why',
    messages_sent: [],
    events: [],
    execution_resources: { l1_gas: 1, l1_data_gas: 2, l2_gas: 3 },
  }
  const expected = [{ hash: 0x33n, kind: 'INVOKE', signature: [1n] }]
  assert.deepEqual(readL2Recording({ ...json, transactions: [transaction] }).transactions, expected)
  const { transaction_hash: _, ...withoutHash } = transaction
  const full = readL2Recording({ ...json, transactions: [{ transaction: withoutHash, receipt }] })
  assert.deepEqual(full.transactions, expected, 'the hash may stand in the receipt only')
  const [{ actualFee, revertReason, gasConsumed }] = full.receipts!
  assert.deepEqual([actualFee, revertReason, gasConsumed], [9n, 'why', { l1Gas: 1n, l1DataGas: 2n, l2Gas: 3n }])
})

test('RPC blocks in the making have no status; with a number they are pre-confirmed', () => {
  const { status, block_hash, new_root, parent_hash, ...json } = toRpcJson(makeBlock({ number: 5 })) as Record<
    string,
    unknown
  >
  assert.equal(readL2Recording(json).status, 'PRE_CONFIRMED')
  const pending = readL2Recording({ ...json, block_number: undefined, parent_hash })
  assert.deepEqual([pending.status, pending.parentHash, pending.number], ['PENDING', 0n, undefined])
})

test('zeros in the place of all commitments and counts are not taken', () => {
  const zeros = { transaction_commitment: '0x0', event_commitment: '0x0', transaction_count: 0, event_count: 0 }
  const block = readL2Recording({ ...toRpcJson(makeBlock({ number: 5 })), ...zeros })
  assert.deepEqual([block.commitments, block.counts], [{}, {}])
})

test('integers beyond 2^53 are exact in gas and fees, and refused as block numbers', () => {
  const text = (values: object) =>
    JSON.stringify(makeFeederJson(values))
      .replace('"GAS"', '18446744073709551615')
      .replace('"NUMBER"', '9007199254740993')
  const [receipt] = makeFeederJson().transaction_receipts
  const gas = { total_gas_consumed: { l1_gas: 'GAS', l1_data_gas: 0 } }
  const exact = readL2Recording(
    parseJsonExact(text({ transaction_receipts: [{ ...receipt, execution_resources: gas }] })),
  )
  assert.equal(exact.receipts![0].gasConsumed!.l1Gas, 18446744073709551615n)
  assert.throws(
    () => readL2Recording(parseJsonExact(text({ block_number: 'NUMBER' }))),
    /block_number: expected an integer from 0 to 2\^53 - 1, got "9007199254740993"/,
  )
})

test('what is wrong is named with its place and value', () => {
  const cases: [unknown, RegExp][] = [
    [[], /^recording: expected an object, got an array of 0$/],
    [{ config: {}, alloc: {} }, /no layer-2 block/],
    [{ jsonrpc: '2.0', id: 1, error: { code: 24, message: 'Block not found' } }, /error.*Block not found/],
    [{ jsonrpc: '2.0', id: 1, result: null }, /result: is null/],
    [makeFeederJson({ status: 'SHINY' }), /status: expected one of .*, got "SHINY"/],
    [makeFeederJson({ block_hash: undefined }), /block_hash: missing/],
    [makeFeederJson({ block_hash: '5' }), /block_hash: expected a felt such as 0x1b4, got "5"/],
    [makeFeederJson({ state_root: undefined }), /state root is missing/],
    [makeFeederJson({ timestamp: -1 }), /timestamp: expected a non-negative integer, got -1/],
    [makeFeederJson({ transactions: [{ type: 'SWAP' }] }), /transactions\[0\]\.type: expected one of/],
    [
      makeFeederJson({ transactions: [{ type: 'DEPLOY' }] }),
      /transactions\[0\]\.transaction_hash: expected a felt.*nothing/,
    ],
    [makeFeederJson({ status: 'PENDING' }), /is PENDING, yet has a block_hash/],
  ]
  for (const [json, message] of cases) {
    assert.throws(
      () => readL2Recording(json),
      (error: unknown) => {
        assert.ok(error instanceof InvalidL2Recording)
        assert.match(error.message, message)
        return true
      },
    )
  }
})
