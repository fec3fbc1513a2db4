import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBlockFromRLP } from '@ethereumjs/block'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import {
  decodeBlock,
  decodeBody,
  decodeWithdrawals,
  encodeBlock,
  transactionsRoot,
  unclesHash,
} from '../../../src/chain/eth/block.js'
import { encodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { decodeRlp, encodeListOf, encodeRlp, type RlpList } from '../../../src/chain/eth/rlp.js'
import { encodeTransaction } from '../../../src/chain/eth/transaction.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { Block, Header, Transaction, Withdrawal } from '../../../src/chain/eth/types.js'
import { encodeWithdrawals, withdrawalsRoot } from '../../../src/chain/eth/withdrawals.js'
import { formatData } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'
import { signTransaction } from '../../support/signing.js'

const random = seededRandom(11)
const common = new Common({ chain: Mainnet, hardfork: Hardfork.Shanghai })

function transaction(type: 0 | 2): Transaction {
  const fees =
    type === 0 ? { gasPrice: 10n ** 10n } : { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] }
  const call = { nonce: 1n, gasLimit: 21_000n, to: random.bytes(20), value: 5n, input: new Uint8Array(0) }
  return signTransaction({ type, chainId: 1n, ...call, ...fees }, random.bytes(32))
}

function header(number: number, fields: Partial<Header>): Header {
  return {
    parentHash: random.bytes(32),
    unclesHash: unclesHash([]),
    miner: random.bytes(20),
    stateRoot: random.bytes(32),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number,
    gasLimit: 30_000_000n,
    gasUsed: 42_000n,
    timestamp: 1_700_000_000n,
    extraData: new Uint8Array(0),
    mixHash: random.bytes(32),
    nonce: new Uint8Array(8),
    baseFeePerGas: undefined,
    withdrawalsRoot: undefined,
    blobGasUsed: undefined,
    excessBlobGas: undefined,
    parentBeaconBlockRoot: undefined,
    requestsHash: undefined,
    blockAccessListHash: undefined,
    slotNumber: undefined,
    ...fields,
  }
}

const withdrawal = (index: bigint): Withdrawal => ({
  index,
  validatorIndex: 3n,
  address: random.bytes(20),
  amountGwei: 7n,
})

/** A block whose roots are right. */
function exampleBlock(): Block {
  const transactions = [transaction(0), transaction(2)]
  const withdrawals = [withdrawal(1n), withdrawal(2n)]
  const head = header(9, {
    transactionsRoot: transactionsRoot(transactions),
    withdrawalsRoot: withdrawalsRoot(withdrawals),
    baseFeePerGas: 7n,
  })
  const block: Block = { hash: hashHeader(head), header: head, transactions, uncles: [], withdrawals, sizeBytes: 0 }
  return { ...block, sizeBytes: encodeBlock(block).length }
}

describe('block codec', () => {
  it('reads back what it writes', () => {
    const block = exampleBlock()
    assert.deepEqual(decodeBlock(encodeBlock(block)), block)
  })

  it('is understood by another implementation, which finds the same hash and valid roots', async () => {
    const block = exampleBlock()
    const theirs = createBlockFromRLP(encodeBlock(block), { common })
    assert.equal(formatData(theirs.hash()), formatData(block.hash))
    assert.equal(await theirs.transactionsTrieIsValid(), true)
    assert.equal(await theirs.withdrawalsTrieIsValid(), true)
    assert.equal(theirs.uncleHashIsValid(), true)
  })

  it('reads uncles and no withdrawals where the block has none', () => {
    const uncles = [header(7, { difficulty: 5n }), header(8, { difficulty: 6n })]
    const head = header(9, { difficulty: 7n, unclesHash: unclesHash(uncles) })
    const block: Block = { hash: hashHeader(head), header: head, transactions: [], uncles, sizeBytes: 0 }
    const decoded = decodeBlock(encodeBlock(block))
    assert.deepEqual(decoded.uncles, uncles)
    assert.equal(decoded.withdrawals, undefined)
  })

  it('reads header and body apart, with the size that the whole block has', () => {
    const block = exampleBlock()
    const [, ...parts] = (decodeRlp(encodeBlock(block)) as RlpList).items
    const body = encodeListOf(parts.map((part) => (part as RlpList).raw))
    assert.deepEqual(decodeBody({ rlp: encodeHeader(block.header), hash: block.hash }, body), block)
  })

  it('names the block and the field that is wrong', () => {
    const block = exampleBlock()
    const place = `block 9 (${formatData(block.hash)})`
    const encoded = (transactions: Uint8Array, uncles: Uint8Array, withdrawals: Uint8Array) =>
      encodeListOf([encodeHeader(block.header), transactions, uncles, withdrawals])
    const empty = encodeRlp([])
    const wrapped = encodeListOf([encodeRlp(encodeTransaction(block.transactions[0]))])
    assert.throws(() => decodeBlock(encoded(wrapped, empty, empty)), {
      message: new RegExp(
        `^${place.replace(/[()]/g, '\\$&')} transactions\\[0\\]: expected a list or a typed transaction`,
      ),
    })
    const typedAsList = encodeListOf([encodeTransaction(block.transactions[1]).subarray(1)])
    assert.throws(() => decodeBlock(encoded(typedAsList, empty, empty)), /transactions\[0\]: expected 9 items, got 12/)
    const uncle = encodeRlp([encodeHeader(block.header)])
    assert.throws(() => decodeBlock(encoded(empty, uncle, empty)), /uncles\[0\]: expected a list/)
    const short = encodeRlp([[1, 2, new Uint8Array(19), 3]])
    assert.throws(() => decodeBlock(encoded(empty, empty, short)), {
      message: `${place} withdrawals[0].address: expected 20 bytes, got 19`,
    })
    const large = encodeRlp([[1n << 64n, 2, new Uint8Array(20), 3]])
    assert.throws(
      () => decodeBlock(encoded(empty, empty, large)),
      /withdrawals\[0\]\.index: expected an integer of at most 64 bits/,
    )
    assert.throws(
      () => decodeBlock(encodeListOf([encodeHeader(block.header), empty])),
      /block: expected 3 to 4 items, got 2/,
    )
    assert.throws(() => decodeBlock(encodeRlp([encodeHeader(block.header), [], []])), /header: expected a list/)
  })
})

describe('withdrawals', () => {
  it('are read back from the RLP of their list', () => {
    const list = [withdrawal(0n), withdrawal(2n ** 64n - 1n)]
    assert.deepEqual(decodeWithdrawals(encodeWithdrawals(list)), list)
    assert.deepEqual(decodeWithdrawals(encodeWithdrawals([])), [])
  })
})

describe('unclesHash', () => {
  it('is the known hash of an empty list', () => {
    assert.equal(formatData(unclesHash([])), '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347')
  })
})
