import assert from 'node:assert/strict'
import { test } from 'node:test'
import { poseidonHashMany } from '@scure/starknet'
import { computeBlockHash } from '../../../src/chain/starknet/blockHash.js'
import {
  computeEventCommitment,
  computeReceiptCommitment,
  computeStateDiffCommitment,
  computeTransactionCommitment,
  countEvents,
  countStateChanges,
} from '../../../src/chain/starknet/commitments.js'
import { hashChains, hashPoseidon, poseidonPairs } from '../../../src/chain/starknet/hash.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import type { L2Block, L2Receipt, L2StateDiff, L2Transaction } from '../../../src/chain/starknet/types.js'

const pedersenPairs = createPedersenHasher()

const invoke: L2Transaction = { hash: 1n, kind: 'INVOKE', signature: [2n, 3n] }
const l1Handler: L2Transaction = { hash: 1n, kind: 'L1_HANDLER', signature: [] }

/** The root of a tree with one leaf: an edge of 64 zeros. */
const rootOfOne = (leaf: bigint) => poseidonPairs([[leaf, 0n]])[0] + 64n

// The expected values below are those of StarkWare's own tests (starknet_api, block_hash/*_test.rs) and, where Pedersen
// is used, of its Python implementation.

test('a signed transaction has the published leaf of its time', () => {
  const leaf = 0x2f0d8840bcf3bc629598d8a6cc80cb7c0d9e52d93dab244bbf9cd0dca0ad082n
  assert.equal(computeTransactionCommitment([invoke], 'poseidon-0', pedersenPairs), rootOfOne(leaf))
  assert.equal(computeTransactionCommitment([invoke], 'poseidon-1', pedersenPairs), rootOfOne(leaf))
})

test('an empty signature counts as one zero until 0.13.4, and as nothing from then on', () => {
  const before = 0xa93bf5e58b9378d093aa86ddc2f61a3295a1d1e665bd0ef3384dd07b30e033n
  const since = 0x579e8877c7755365d5ec1ec7d3a94a457eff5d1f40482bbe9729c064cdead2n
  assert.equal(computeTransactionCommitment([l1Handler], 'poseidon-0', pedersenPairs), rootOfOne(before))
  assert.equal(computeTransactionCommitment([l1Handler], 'poseidon-1', pedersenPairs), rootOfOne(since))
})

test('two transactions have the published commitment', () => {
  const expected = 0x282b635972328bd1cfa86496fe920d20bd9440cd78ee8dc90ae2b383d664dcfn
  assert.equal(computeTransactionCommitment([invoke, invoke], 'poseidon-0', pedersenPairs), expected)
})

test('until 0.11.1 only invoke transactions are covered with their signatures', () => {
  const declare: L2Transaction = { ...invoke, kind: 'DECLARE' }
  const leafWith = 0x259c3bd5a1951eafb2f41e0b783eab92cfe4e108b2b1f071e3736f06b909431n
  const [emptyList] = hashChains([[]], pedersenPairs)
  const [leafWithout] = pedersenPairs([[1n, emptyList]])
  const root = (leaf: bigint) => pedersenPairs([[leaf, 0n]])[0] + 64n
  assert.equal(computeTransactionCommitment([invoke], 'pedersen', pedersenPairs), root(leafWith))
  assert.equal(computeTransactionCommitment([declare], 'pedersen', pedersenPairs), root(leafWithout))
  assert.equal(computeTransactionCommitment([declare], 'pedersen-signatures', pedersenPairs), root(leafWith))
})

const receipt = (values: Partial<L2Receipt>): L2Receipt => ({ transactionHash: 0x1234n, messages: [], ...values })
const eventOf = (seed: bigint) => ({
  fromAddress: seed + 8n,
  keys: [seed, seed + 1n],
  data: [seed + 2n, seed + 3n, seed + 4n],
})

test('events have the published commitments', () => {
  const receipts = [receipt({ events: [eventOf(0n), eventOf(1n), eventOf(2n)] })]
  const expected = 0x69bb140ddbbeb01d81c7201ecfb933031306e45dab9c77ff9f9ba3cd4c2b9c3n
  assert.equal(computeEventCommitment(receipts, 'poseidon-0', pedersenPairs), expected)
  const event = { fromAddress: 0xdeadbeefn, keys: [1n, 2n, 3n, 4n], data: [5n, 6n, 7n, 8n, 9n] }
  const leaf = 0xdb96455b3a61f9139f7921667188d31d1e1d49fb60a1aa3dbf3756dbe3a9b4n
  const root = pedersenPairs([[leaf, 0n]])[0] + 64n
  assert.equal(computeEventCommitment([receipt({ events: [event] })], 'pedersen', pedersenPairs), root)
})

test('receipts without a list of events have neither commitment nor count', () => {
  assert.equal(computeEventCommitment([receipt({})], 'pedersen', pedersenPairs), undefined)
  assert.equal(countEvents([receipt({})]), undefined)
  assert.equal(countEvents([receipt({ events: [] }), receipt({ events: [eventOf(1n)] })]), 1)
})

test('a receipt is covered with its fee, messages, revert reason and gas of layer 1', () => {
  const gasConsumed = { l1Gas: 7n, l1DataGas: 8n, l2Gas: 999n }
  const messages = [{ fromAddress: 1n, toAddress: 2n, payload: [3n, 4n] }]
  const own = receipt({ actualFee: 5n, messages, revertReason: 'ABC', gasConsumed })
  const keccak = 0x1629b9dda060bb30c7908346f6af189c16773fa148d3366701fbaa35d54f3c8n // sn_keccak("ABC")
  const leaf = poseidonHashMany([0x1234n, 5n, poseidonHashMany([1n, 1n, 2n, 2n, 3n, 4n]), keccak, 0n, 7n, 8n])
  assert.equal(computeReceiptCommitment([own]), rootOfOne(leaf))
  assert.equal(computeReceiptCommitment([receipt({ actualFee: 5n })]), undefined)
  assert.equal(computeReceiptCommitment([receipt({ gasConsumed })]), undefined)
})

const diff: L2StateDiff = {
  storage: [
    { address: 9n, entries: [] },
    {
      address: 8n,
      entries: [
        { key: 3n, value: 4n },
        { key: 1n, value: 2n },
      ],
    },
    { address: 7n, entries: [{ key: 5n, value: 6n }] },
  ],
  nonces: [{ address: 11n, nonce: 1n }],
  deployedContracts: [{ address: 30n, classHash: 31n }],
  replacedClasses: [{ address: 20n, classHash: 21n }],
  declaredClasses: [{ classHash: 41n, compiledClassHash: 42n }],
  migratedClasses: [{ classHash: 40n, compiledClassHash: 43n }],
  declaredLegacyClasses: [51n, 50n],
}

test('a state diff is covered sorted, contracts and classes each as one list', () => {
  const version = BigInt(`0x${Buffer.from('STARKNET_STATE_DIFF0').toString('hex')}`)
  const expected = hashPoseidon(
    [
      [version],
      [2n, 20n, 21n, 30n, 31n],
      [2n, 40n, 43n, 41n, 42n],
      [2n, 50n, 51n],
      [1n, 0n],
      [2n, 7n, 1n, 5n, 6n, 8n, 2n, 1n, 2n, 3n, 4n],
      [1n, 11n, 1n],
    ].flat(),
  )
  assert.equal(computeStateDiffCommitment(diff), expected)
  assert.equal(countStateChanges(diff), 10)
})

test('a header has the published Poseidon hashes', () => {
  const block: L2Block = {
    status: 'ACCEPTED_ON_L2',
    number: 1,
    newRoot: 2n,
    sequencer: 3n,
    timestamp: 4,
    parentHash: 11n,
    daMode: 'BLOB',
    prices: { l1Fri: 6n, l1Wei: 7n, l1DataWei: 9n, l1DataFri: 10n, l2Fri: 11n, l2Wei: 12n },
    commitments: {},
    counts: {},
    transactionHashes: [],
  }
  const inputs = {
    transactionCommitment: 0x72f432efa51e2a34f68404ac5e77514301e26eb53ec89badd8173f4e8561b95n,
    transactionCount: 1,
    eventCommitment: 0n,
    eventCount: 0,
    stateDiffCommitment: 0x281f5966e49ad7dad9323826d53d1d27c0c4e6ebe5525e2e2fbca549bfa0a67n,
    stateDiffLength: 10,
    receiptCommitment: 0x8e7dfb2772c2ac26e712fb97404355d66db0ba9555f0f64f30d61a56df9c76n,
  }
  const hash = (version: string, rules: 'poseidon-0' | 'poseidon-1') =>
    computeBlockHash({ ...block, version }, inputs, { rules, pedersenPairs })
  assert.equal(hash('0.13.2', 'poseidon-0'), 0xe248d6ce583f8fa48d1d401d4beb9ceced3733e38d8eacb0d8d3669a7d901cn)
  assert.equal(hash('0.13.4', 'poseidon-1'), 0x3d6174623c812f5dc03fa3faa07c42c06fd90ad425629ee5f39e149df65c3can)
})
