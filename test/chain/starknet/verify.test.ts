import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeBlockHash } from '../../../src/chain/starknet/blockHash.js'
import { computeTransactionCommitment } from '../../../src/chain/starknet/commitments.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import type { L2Block, L2Transaction } from '../../../src/chain/starknet/types.js'
import { verifyL2Block } from '../../../src/chain/starknet/verify.js'
import { makeBlock } from '../../support/chains/l2Blocks.js'

const pedersenPairs = createPedersenHasher()
const verify = (block: L2Block, network?: Parameters<typeof verifyL2Block>[1]) =>
  verifyL2Block(block, network, pedersenPairs)

const GOERLI_FALLBACK = 0x46a89ae102987331d369645031b49c27738ed096f2789c24449966da4c6de6bn

/** Makes a block from before blocks named their version, hashed with the sequencer and chain id that are passed. */
function makeOldBlock({
  number,
  sequencer,
  chainId,
}: {
  number: number
  sequencer?: bigint
  chainId?: string
}): L2Block {
  const transactions: L2Transaction[] = [{ hash: 5n, kind: 'INVOKE', signature: [6n] }]
  const block: L2Block = {
    ...makeBlock({ number, hash: 1n }),
    version: '',
    sequencer: undefined,
    commitments: {},
    counts: {},
    transactionHashes: [5n],
    transactions,
    receipts: [{ transactionHash: 5n, messages: [], events: [] }],
  }
  const transactionCommitment = computeTransactionCommitment(transactions, 'pedersen', pedersenPairs)
  block.hash = computeBlockHash(
    { ...block, sequencer },
    { transactionCommitment, transactionCount: 1, eventCommitment: 0n, eventCount: 0 },
    { rules: 'pedersen', pedersenPairs, chainId },
  )
  return block
}

test('a header with all commitments is enough from 0.13.2 on', () => {
  const verdict = verify(makeBlock({ number: 5 }))
  assert.equal(verdict.kind, 'match')
})

test('whatever the hash covers, a change of it is found', () => {
  const block = makeBlock({ number: 5 })
  const changes: Partial<L2Block>[] = [
    { number: 6 },
    { parentHash: 1n },
    { newRoot: 1n },
    { timestamp: 1 },
    { sequencer: 1n },
    { version: '0.14.1' },
    { daMode: 'CALLDATA' },
    { prices: { ...block.prices, l2Fri: 1n } },
    { commitments: { ...block.commitments, receiptCommitment: 1n } },
    { counts: { ...block.counts, eventCount: 4 } },
    { hash: 1n },
  ]
  for (const change of changes) {
    const verdict = verify({ ...block, ...change })
    assert.ok(verdict.kind === 'mismatch' && verdict.check === 'block hash', JSON.stringify(Object.keys(change)))
  }
})

test('lists that contradict the counts or each other are named', () => {
  const block = makeBlock({ number: 5 })
  const receipts = block.transactionHashes.map((transactionHash) => ({ transactionHash, messages: [], events: [] }))
  const checks: [Partial<L2Block>, string][] = [
    [{ transactionHashes: [1n] }, 'transaction count'],
    [{ receipts: receipts.slice(1) }, 'receipt count'],
    [{ receipts: receipts.toReversed() }, 'transaction hash of receipt 0'],
    [{ receipts }, 'event count'],
  ]
  for (const [change, check] of checks) {
    const verdict = verify({ ...block, ...change })
    assert.equal(verdict.kind === 'mismatch' && verdict.check, check)
  }
})

test('a changed signature is found in the transaction commitment', () => {
  const transactions: L2Transaction[] = [{ hash: 5n, kind: 'INVOKE', signature: [6n] }]
  const transactionCommitment = computeTransactionCommitment(transactions, 'poseidon-1', pedersenPairs)
  const plain = makeBlock({ number: 1, transactionHashes: [5n] })
  const commitments = { ...plain.commitments, transactionCommitment }
  const block = { ...makeBlock({ number: 1, transactionHashes: [5n], commitments }), transactions }
  assert.equal(verify(block).kind, 'match')
  const forged = verify({ ...block, transactions: [{ ...transactions[0], signature: [7n] }] })
  assert.equal(forged.kind === 'mismatch' && forged.check, 'transaction commitment')
})

test('a block without something that its hash covers is incomplete, and says without what', () => {
  const block = makeBlock({ number: 5 })
  const changes: [Partial<L2Block>, RegExp][] = [
    [{ commitments: {} }, /transactions with signatures/],
    [{ commitments: { ...block.commitments, stateDiffCommitment: 0n } }, /state diff/],
    [{ counts: {} }, /events/],
    [{ prices: { ...block.prices, l2Wei: undefined } }, /gas prices/],
    [{ version: undefined }, /version/],
    [{ parentHash: undefined }, /parent/],
    [{ newRoot: undefined }, /state root/],
    [{ version: 'unknown' }, /rules of version unknown/],
    [{ hash: undefined }, /no hash/],
  ]
  for (const [change, reason] of changes) {
    const verdict = verify({ ...block, ...change })
    assert.match(verdict.kind === 'incomplete' ? verdict.reason : verdict.kind, reason)
  }
})

test('before 0.7 the hash covers the chain id and so identifies it', () => {
  const block = makeOldBlock({ number: 800, chainId: 'SN_MAIN' })
  for (const network of [undefined, 'mainnet'] as const) {
    const verdict = verify(block, network)
    assert.equal(verdict.kind === 'match' && verdict.chainId, 'SN_MAIN')
  }
  assert.equal(verify(block, 'goerli').kind, 'mismatch')
  assert.equal(verify(block, 'sepolia').kind, 'mismatch', 'sepolia never had those rules')
})

test('where no sequencer is named, zero and the known ones are tried, by the network', () => {
  assert.equal(verify(makeOldBlock({ number: 2000, sequencer: 0n }), 'mainnet').kind, 'match')
  const block = makeOldBlock({ number: 150_000, sequencer: GOERLI_FALLBACK })
  assert.equal(verify(block, 'goerli').kind, 'match')
  assert.equal(verify(block).kind, 'match')
  assert.equal(verify(block, 'mainnet').kind, 'mismatch')
  assert.equal(verify({ ...block, sequencer: 1n }).kind, 'mismatch', 'a named one is taken at its word')
})

test('a mismatch in an unverifiable range is excused for that network only', () => {
  const wrong = (number: number) => ({ ...makeOldBlock({ number }), hash: 1n })
  for (const number of [119_802, 148_428]) {
    assert.equal(verify(wrong(number), 'goerli').kind, 'unverifiable')
    assert.equal(verify(wrong(number), 'mainnet').kind, 'mismatch')
    assert.equal(verify(wrong(number)).kind, 'mismatch')
  }
  for (const number of [119_801, 148_429]) assert.equal(verify(wrong(number), 'goerli').kind, 'mismatch')
})
