import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { decodeBlock, encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeReceipt, receiptsRoot } from '../../../src/chain/eth/receipt.js'
import { DecodeError, measureRlp } from '../../../src/chain/eth/rlp.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { decodeBlockJson, decodeHeaderJson } from '../../../src/sources/ethRpc/blockJson.js'
import { readFields } from '../../../src/sources/ethRpc/fields.js'
import { decodeReceiptJson } from '../../../src/sources/ethRpc/receiptJson.js'
import { decodeTransactionJson } from '../../../src/sources/ethRpc/transactionJson.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { readRecordings } from '../../support/chains/recordings.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'

type Json = Record<string, unknown>

const { chain, answers } = await openFixtureAnswers({ after })

describe('JSON of the fixture chain', () => {
  it('becomes the block that it was made from, of every fork and transaction type', async () => {
    const types = new Set<number>()
    for (const { block } of chain) {
      const at = formatQuantity(block.header.number)
      const value = (await answers.result('eth_getBlockByNumber', [at, true])) as Json
      const uncles = (value.uncles as string[]).map((_, i) =>
        answers.result('eth_getUncleByBlockHashAndIndex', [value.hash, formatQuantity(i)]),
      )
      const decoded = decodeBlockJson(value, await Promise.all(uncles))
      assert.equal(formatData(decoded.hash), formatData(block.hash))
      assert.equal(formatData(encodeBlock(decoded)), formatData(encodeBlock(block)))
      assert.equal(decoded.sizeBytes, block.sizeBytes)
      assert.deepEqual(
        decoded.transactions.map(({ from, hash, type }) => [formatData(from), formatData(hash), type]),
        block.transactions.map(({ from, hash, type }) => [formatData(from), formatData(hash), type]),
      )
      for (const { type } of block.transactions) types.add(type)
    }
    assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4])
  })

  it('becomes the receipts that it was made from', async () => {
    for (const { block, receipts } of chain) {
      const list = (await answers.result('eth_getBlockReceipts', [formatData(block.hash)])) as unknown[]
      const decoded = list.map((receipt, i) => decodeReceiptJson(receipt, block, i))
      assert.deepEqual(
        decoded.map((receipt) => formatData(encodeReceipt(receipt))),
        receipts!.map((receipt) => formatData(encodeReceipt(receipt))),
      )
    }
  })

  it('may leave out what older nodes do not say, and pad its quantities', async () => {
    const { block } = chain.find(({ block }) => block.transactions.some(({ type }) => type === 0))!
    const value = (await answers.result('eth_getBlockByHash', [formatData(block.hash), true])) as Json
    for (const transaction of value.transactions as Json[]) {
      delete transaction.type
      delete transaction.chainId
      transaction.data = transaction.input
      delete transaction.input
      transaction.r = `0x${String(transaction.r).slice(2).padStart(64, '0')}`
    }
    assert.equal(formatData(encodeBlock(decodeBlockJson(value, []))), formatData(encodeBlock(block)))
  })

  it('is refused with the member that is wrong', async () => {
    const value = (await answers.result('eth_getBlockByNumber', ['0x5', true])) as Json
    const { transactions } = value as { transactions: Json[] }
    const refuse = (change: Json, message: RegExp) =>
      assert.throws(
        () => decodeBlockJson({ ...value, ...change }, []),
        (error) => {
          assert.ok(error instanceof DecodeError)
          assert.match(error.message, message)
          return true
        },
      )
    refuse({ gasUsed: 21_000 }, /^block\.gasUsed: expected a hex quantity, got 21000$/)
    refuse({ miner: '0x12' }, /^block\.miner: expected 20 bytes of hex data, got 0x12$/)
    refuse({ number: '0xffffffffffffffff' }, /^block\.number: expected a hex quantity below 2\^53/)
    refuse({ stateRoot: null }, /^block\.stateRoot: expected 32 bytes of hex data, got null$/)
    refuse({ transactions: ['0x12'] }, /^transactions\[0\]: expected an object, got 0x12$/)
    refuse(
      { transactions: [{ ...transactions[0], type: '0x7f' }] },
      /^transactions\[0\]\.type: expected 0 to 4 or 126, got 127/,
    )
    refuse(
      { transactions: [{ ...transactions[0], v: '0x0' }] },
      /^transactions\[0\]\.v: expected 27, 28 or at least 35/,
    )
  })
})

describe('JSON of other nodes, beside RLP', { skip: SKIP_SHARED }, () => {
  const folder = sharedPath('conformance', 'execution-apis') ?? ''
  const results = (method: string) =>
    readRecordings(folder, method).flatMap(({ exchanges }) => exchanges.map(({ expected }) => expected.result))
  const blocks = new Map<string, Block>()
  before(() => {
    const bytes = new Uint8Array(readFileSync(`${folder}/chain.rlp`))
    for (let at = 0; at < bytes.length; ) {
      const { end } = measureRlp(bytes, at)!
      const block = decodeBlock(bytes.subarray(at, end))
      blocks.set(formatData(block.hash), block)
      at = end
    }
  })

  it('has headers whose recomputed hash is the recorded one', () => {
    const values = ['eth_getBlockByNumber', 'eth_getBlockByHash'].flatMap(results).filter(Boolean)
    assert.ok(values.length >= 8)
    for (const value of values) assert.equal(formatData(decodeHeaderJson(value).hash), (value as Json).hash)
  })

  it('has whole blocks whose RLP is that of the chain file', () => {
    const isWhole = (value: unknown) =>
      (value as Json | null)?.transactions && blocks.has((value as Json).hash as string)
    const values = ['eth_getBlockByNumber', 'eth_getBlockByHash'].flatMap(results).filter(isWhole) as Json[]
    const whole = values.filter(({ transactions }) => typeof (transactions as unknown[])[0] === 'object')
    assert.ok(whole.length >= 1)
    for (const value of whole) {
      const block = blocks.get(value.hash as string)!
      assert.equal(formatData(encodeBlock(decodeBlockJson(value, []))), formatData(encodeBlock(block)))
    }
  })

  it('has transactions whose recomputed hash and sender are the recorded ones', () => {
    const methods = ['eth_getTransactionByHash', 'eth_getTransactionByBlockHashAndIndex']
    const values = methods.flatMap(results).filter(Boolean) as Json[]
    assert.ok(values.length >= 4)
    for (const value of values) {
      assert.equal(formatData(decodeTransactionJson(readFields(value, 'transaction')).hash), value.hash)
    }
  })

  it('has receipts whose root is that of the header', () => {
    const lists = results('eth_getBlockReceipts').filter((list) => Array.isArray(list) && list.length > 0) as Json[][]
    assert.ok(lists.length >= 1)
    for (const list of lists) {
      const block = blocks.get(list[0].blockHash as string)!
      const receipts = list.map((receipt, i) => decodeReceiptJson(receipt, block, i))
      assert.equal(formatData(receiptsRoot(receipts)), formatData(block.header.receiptsRoot))
    }
  })
})
