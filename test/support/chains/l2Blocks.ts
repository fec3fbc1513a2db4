import { computeBlockHash } from '../../../src/chain/starknet/blockHash.js'
import {
  computeEventCommitment,
  computeReceiptCommitment,
  computeStateDiffCommitment,
  computeTransactionCommitment,
  countEvents,
  countStateChanges,
} from '../../../src/chain/starknet/commitments.js'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import { createPedersenHasher } from '../../../src/chain/starknet/pedersen.js'
import type { L2Block, L2Receipt, L2StateDiff, L2Transaction } from '../../../src/chain/starknet/types.js'
import type { L2Verdict } from '../../../src/chain/starknet/verify.js'

const pedersenPairs = createPedersenHasher()

/** A verdict for tests in which hashes are not the matter. */
export const UNCHECKED: L2Verdict = { kind: 'unchecked' }

/** A made-up confirmed block, its header complete; its hash is right unless another is given. */
export function makeBlock(values: Partial<L2Block> & { number: number }): L2Block {
  const transactionHashes = values.transactionHashes ?? [BigInt(values.number * 10 + 1), BigInt(values.number * 10 + 2)]
  const block: L2Block = {
    status: 'ACCEPTED_ON_L2',
    parentHash: 0n,
    newRoot: BigInt(values.number + 1000),
    timestamp: 1_700_000_000 + values.number,
    sequencer: 0xabcn,
    version: '0.14.0',
    prices: { l1Wei: 1n, l1Fri: 2n, l1DataWei: 3n, l1DataFri: 4n, l2Wei: 5n, l2Fri: 2n ** 100n },
    daMode: 'BLOB',
    commitments: { transactionCommitment: 11n, eventCommitment: 12n, receiptCommitment: 13n, stateDiffCommitment: 14n },
    counts: { transactionCount: transactionHashes.length, eventCount: 3, stateDiffLength: 4 },
    transactionHashes,
    ...values,
  }
  const inputs = { ...block.commitments, ...block.counts }
  block.hash ??= computeBlockHash(block, inputs, { rules: 'poseidon-1', pedersenPairs })
  return block
}

/** Made-up blocks `from` to `to`, both inclusive, each the parent of the next. */
export function makeChain(from: number, to: number): L2Block[] {
  const blocks: L2Block[] = []
  for (let number = from; number <= to; number++) {
    blocks.push(makeBlock({ number, parentHash: blocks.at(-1)?.hash ?? BigInt(from) }))
  }
  return blocks
}

/** A made-up unconfirmed block. */
export function makePending(values: Partial<L2Block>): L2Block {
  return {
    status: 'PENDING',
    timestamp: 1_700_000_999,
    prices: { l1Wei: 7n },
    commitments: {},
    counts: {},
    transactionHashes: [71n, 72n],
    ...values,
  }
}

/** The block as the RPC of specification 0.10 gives it. */
export function toRpcJson(block: L2Block): object {
  const price = (wei: bigint | undefined, fri: bigint | undefined) => ({
    price_in_wei: formatFelt(wei ?? 0n),
    price_in_fri: formatFelt(fri ?? 0n),
  })
  const felt = (value: bigint | undefined) => (value === undefined ? undefined : formatFelt(value))
  return {
    status: block.status,
    block_hash: felt(block.hash),
    parent_hash: felt(block.parentHash),
    block_number: block.number,
    new_root: felt(block.newRoot),
    timestamp: block.timestamp,
    sequencer_address: felt(block.sequencer),
    l1_gas_price: price(block.prices.l1Wei, block.prices.l1Fri),
    l1_data_gas_price: price(block.prices.l1DataWei, block.prices.l1DataFri),
    l2_gas_price: price(block.prices.l2Wei, block.prices.l2Fri),
    l1_da_mode: block.daMode,
    starknet_version: block.version,
    transaction_commitment: felt(block.commitments.transactionCommitment),
    event_commitment: felt(block.commitments.eventCommitment),
    receipt_commitment: felt(block.commitments.receiptCommitment),
    state_diff_commitment: felt(block.commitments.stateDiffCommitment),
    transaction_count: block.counts.transactionCount,
    event_count: block.counts.eventCount,
    state_diff_length: block.counts.stateDiffLength,
    transactions: block.transactionHashes.map(formatFelt),
  }
}

/** A made-up block with transactions, receipts and state diff, whose hash covers them all. */
export function makeFullBlock(values: Partial<L2Block> & { number: number }): L2Block {
  const { number, transactionHashes = [BigInt(number * 10 + 1), BigInt(number * 10 + 2)] } = values
  const salt = BigInt(number + 1)
  const transactions: L2Transaction[] = transactionHashes.map((hash) => ({
    hash,
    kind: 'INVOKE',
    signature: [hash, salt],
  }))
  const receipts: L2Receipt[] = transactionHashes.map((transactionHash, i) => ({
    transactionHash,
    events: [{ fromAddress: 0x57an, keys: [1n, transactionHash], data: [salt] }],
    messages: i === 0 ? [{ fromAddress: 0x57an, toAddress: 0x111n, payload: [salt] }] : [],
    actualFee: 1000n + salt,
    revertReason: i === 1 ? 'out of gas' : undefined,
    gasConsumed: { l1Gas: 1n, l1DataGas: 2n, l2Gas: salt },
  }))
  const stateDiff: L2StateDiff = {
    storage: [{ address: 0x57an, entries: [{ key: 1n, value: salt }] }],
    nonces: [{ address: 0x57an, nonce: salt }],
    deployedContracts: [{ address: 0xde0n + salt, classHash: 0xc1a55n }],
    replacedClasses: [],
    declaredClasses: [{ classHash: 0xc1a55n + salt, compiledClassHash: 0xc0den }],
    migratedClasses: [],
    declaredLegacyClasses: [],
  }
  const commitments = {
    transactionCommitment: computeTransactionCommitment(transactions, 'poseidon-1', pedersenPairs),
    eventCommitment: computeEventCommitment(receipts, 'poseidon-1', pedersenPairs),
    receiptCommitment: computeReceiptCommitment(receipts),
    stateDiffCommitment: computeStateDiffCommitment(stateDiff),
  }
  const counts = {
    transactionCount: transactions.length,
    eventCount: countEvents(receipts),
    stateDiffLength: countStateChanges(stateDiff),
  }
  return makeBlock({ commitments, counts, transactionHashes, transactions, receipts, stateDiff, ...values })
}

/** Blocks of `growL2` by number, parent and root: their hashes take most of the time of a test of following. */
const grownBlocks = new Map<string, L2Block>()

/** Made-up blocks on top of `trunk`, which may be empty; `salt` makes branches differ. Every seventh one is empty. The
 *  same arguments give the same blocks. */
export function growL2(trunk: readonly L2Block[], count: number, salt = 0): L2Block[] {
  const grown = [...trunk]
  for (let i = 0; i < count; i++) {
    const parent = grown.at(-1)
    const number = parent === undefined ? 0 : parent.number! + 1
    const newRoot = BigInt(1000 * (salt + 1) + number)
    const parts = number % 7 === 6 ? { transactionHashes: [] } : {}
    const parentHash = parent?.hash ?? 0n
    const key = [number, parentHash, newRoot].join()
    const block = grownBlocks.get(key) ?? makeFullBlock({ number, parentHash, newRoot, ...parts })
    grownBlocks.set(key, block)
    grown.push(block)
  }
  return grown
}
