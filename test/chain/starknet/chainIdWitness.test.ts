import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hash } from 'starknet'
import { findChainId } from '../../../src/chain/starknet/chainIdWitness.js'
import { encodeChainId, knownChainIds } from '../../../src/chain/starknet/networks.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import { readChainIdWitness } from '../../../src/chain/starknet/recording/witness.js'

/* Transactions hashed by another implementation, starknet.js, as the feeder and the RPC give them. */

const pedersenPairs = createPedersenHasher()
const hex = (value: bigint | number) => `0x${value.toString(16)}`

/** An INVOKE of version 3 on a chain, as the feeder or the RPC give it. */
function invoke3(chainId: string, feeder: boolean) {
  const bounds = (units: bigint, price: bigint) => ({ max_amount: units, max_price_per_unit: price })
  const resourceBounds = { l1_gas: bounds(5n, 2n ** 100n), l2_gas: bounds(2n ** 63n, 7n), l1_data_gas: bounds(9n, 11n) }
  const calldata = [1n, 2n, 3n]
  const transactionHash = hash.calculateInvokeTransactionHash({
    senderAddress: '0x123',
    version: '0x3',
    compiledCalldata: calldata.map(hex),
    chainId: hex(encodeChainId(chainId)) as never,
    nonce: 77,
    accountDeploymentData: ['0x8'],
    nonceDataAvailabilityMode: 1,
    feeDataAvailabilityMode: 0,
    resourceBounds,
    tip: 3,
    paymasterData: ['0x4', '0x5'],
  } as never)
  const names = { l1_gas: 'L1_GAS', l2_gas: 'L2_GAS', l1_data_gas: 'L1_DATA_GAS' }
  return {
    ...{
      type: feeder ? 'INVOKE_FUNCTION' : 'INVOKE',
      version: '0x3',
      sender_address: '0x123',
      nonce: '0x4d',
      tip: '0x3',
    },
    transaction_hash: transactionHash,
    calldata: calldata.map(hex),
    account_deployment_data: ['0x8'],
    paymaster_data: ['0x4', '0x5'],
    nonce_data_availability_mode: feeder ? 1 : 'L2',
    fee_data_availability_mode: feeder ? 0 : 'L1',
    resource_bounds: Object.fromEntries(
      Object.entries(resourceBounds).map(([name, { max_amount, max_price_per_unit }]) => [
        feeder ? names[name as keyof typeof names] : name,
        { max_amount: hex(max_amount), max_price_per_unit: hex(max_price_per_unit) },
      ]),
    ),
  }
}

const witnessOf = (...transactions: object[]) =>
  readChainIdWitness(transactions.map((value, i) => ({ value, path: `transactions[${i}]` })))

test('an INVOKE of version 3 identifies the network, whichever it is', () => {
  for (const chainId of knownChainIds()) {
    for (const feeder of [true, false]) {
      const witness = witnessOf(invoke3(chainId, feeder))!
      assert.equal(findChainId(witness, pedersenPairs), chainId)
      assert.equal(findChainId(witness, pedersenPairs, 'SN_MAIN'), chainId)
    }
  }
})

test('a transaction of an unknown network, or one that was changed, identifies no network', () => {
  const unknown = witnessOf(invoke3('SN_NOWHERE', true))!
  assert.equal(findChainId(unknown, pedersenPairs), undefined)
  const right = invoke3('SN_MAIN', true)
  for (const change of [{ nonce: '0x4e' }, { calldata: ['0x1'] }, { tip: '0x4' }, { fee_data_availability_mode: 1 }]) {
    assert.equal(findChainId(witnessOf({ ...right, ...change })!, pedersenPairs), undefined)
  }
})

test('transactions that lack members, or have odd ones, are passed over', () => {
  const right = invoke3('SN_SEPOLIA', true)
  const odd = [
    { ...right, tip: 'none' },
    { ...right, resource_bounds: 5 },
    { type: 'INVOKE', version: '0x1', calldata: [] },
  ]
  assert.equal(witnessOf(...odd), undefined)
  assert.equal(findChainId(witnessOf(...odd, right)!, pedersenPairs), 'SN_SEPOLIA')
  assert.equal(readChainIdWitness([{ value: '0x1', path: 'transactions[0]' }]), undefined)
})
