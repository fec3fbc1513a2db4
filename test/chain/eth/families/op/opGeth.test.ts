import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeBlock, encodeBlock } from '../../../../../src/chain/eth/block.js'
import { familyOf } from '../../../../../src/chain/eth/families/families.js'
import { DEPOSIT_TYPE } from '../../../../../src/chain/eth/families/op/deposit.js'
import { hasOpFork } from '../../../../../src/chain/eth/families/op/opForks.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { parseGenesis, parseGenesisSpec } from '../../../../../src/chain/eth/genesis.js'
import { formatGenesisConfig } from '../../../../../src/chain/eth/genesisConfig.js'
import { InvalidBlock } from '../../../../../src/chain/eth/invalidBlock.js'
import { decodeReceipt, encodeReceipt } from '../../../../../src/chain/eth/receipt.js'
import type { Block, ConsensusReceipt, Header, Transaction } from '../../../../../src/chain/eth/types.js'
import { verifyReceipts } from '../../../../../src/chain/eth/verifyRoots.js'
import { formatData, formatQuantity, parseHex } from '../../../../../src/lib/hex.js'
import { decodeBlockJson } from '../../../../../src/sources/ethRpc/blockJson.js'
import { decodeReceiptJson } from '../../../../../src/sources/ethRpc/receiptJson.js'
import { verifyBody, verifyBodyRules } from '../../../../../src/sync/validate/body.js'
import { verifyHeader } from '../../../../../src/sync/validate/header.js'
import { BLOCKS_PER_FORK, readOpChain } from '../../../../support/chains/op/opChain.js'

const { genesis, hash, blocks } = readOpChain()
const { spec } = parseGenesis(genesis)
const family = familyOf(spec)
const decoded = blocks.map(({ raw }) => decodeBlock(parseHex(raw)))
const receiptsOf = (number: number) => blocks[number].rawReceipts.map((bytes) => decodeReceipt(parseHex(bytes)))
const rulesOf = ({ header }: Block) => rulesAt(spec, header.number, header.timestamp, 0n)
const check = (block: Block, parent: Block) => {
  verifyHeader(block.header, block.hash, parent, rulesOf(block), spec)
  verifyBody(block, rulesOf(block), spec)
}
const refuses = (expected: RegExp, act: () => void) =>
  assert.throws(act, (error) => error instanceof InvalidBlock && expected.test(error.message))

describe('blocks of the OP stack by op-geth', () => {
  it('have its hashes and roots, and its next base fee', () => {
    assert.equal(formatData(decoded[0].hash), hash)
    for (const [number, block] of decoded.entries()) {
      assert.equal(formatData(block.hash), blocks[number].block.hash)
      assert.equal(formatData(encodeBlock(block)), blocks[number].raw)
      if (number > 0) check(block, decoded[number - 1])
      const receipts = receiptsOf(number)
      verifyReceipts(block.header, receipts, { blockHash: block.hash })
      // Those of Regolith's deposits have the nonce, which the root does not cover, at op-geth.
      const isRegolith = !hasOpFork(spec, 'canyon', block.header.timestamp)
      for (const [index, receipt] of receipts.entries()) {
        if (isRegolith && receipt.type === DEPOSIT_TYPE) continue
        assert.equal(formatData(encodeReceipt(receipt)), blocks[number].rawReceipts[index])
      }
    }
  })

  it('are read from its JSON as from its RLP', () => {
    for (const [number, { block, receipts }] of blocks.entries()) {
      const read = decodeBlockJson(block, [], spec)
      assert.equal(formatData(encodeBlock(read)), blocks[number].raw)
      assert.deepEqual(read.transactions.map(withoutAbsent), decoded[number].transactions.map(withoutAbsent))
      assert.deepEqual(
        receipts.map((receipt, index) => withoutAbsent(decodeReceiptJson(receipt, read, index))),
        receiptsOf(number).map(withoutAbsent),
      )
    }
  })

  it('have its fees of layer 1 in the receipts', () => {
    let found = 0
    for (const [number, { receipts }] of blocks.entries()) {
      const { header, transactions } = decoded[number]
      const membersOf = family.receiptMembers!(spec, header, transactions[0])
      for (const [index, transaction] of transactions.entries()) {
        const members = membersOf!(transaction)
        if (Object.keys(members).length > 0) found++
        const theirs = Object.entries(receipts[index]).filter(([name]) => isOfFees(name))
        assert.deepEqual(members, Object.fromEntries(theirs), `block ${number}, transaction ${index}`)
      }
    }
    assert.ok(found > 300, `${found} receipts with fees`)
  })

  it('are refused when a part differs', () => {
    const jovian = 8 * BLOCKS_PER_FORK + 5
    const [parent, block] = [decoded[jovian - 1], decoded[jovian]]
    const withHeader = (changes: Partial<Header>) => ({ ...block, header: { ...block.header, ...changes } })
    const refusesHeader = (expected: RegExp, changes: Partial<Header>) =>
      refuses(expected, () => check(withHeader(changes), parent))
    refusesHeader(/base fee/, { baseFeePerGas: block.header.baseFeePerGas! + 1n })
    refusesHeader(/extra data.*17 bytes: version 1/, { extraData: block.header.extraData.subarray(0, 9) })
    refusesHeader(/extra data/, { extraData: new Uint8Array(17).fill(1, 0, 1) })
    refusesHeader(/requests hash/, { requestsHash: new Uint8Array(32) })
    refusesHeader(/excess blob gas/, { excessBlobGas: 1n })
    refusesHeader(/blob gas used/, { blobGasUsed: block.header.blobGasUsed! + 1n })
    refusesHeader(/difficulty/, { difficulty: 1n })
    const receipts = receiptsOf(jovian)
    const wrongNonce = [{ ...receipts[0], depositNonce: receipts[0].depositNonce! + 1n }, ...receipts.slice(1)]
    refuses(/receipts root/, () => verifyReceipts(block.header, wrongNonce, { blockHash: block.hash }))
    const ecotone = decoded[3 * BLOCKS_PER_FORK + 5]
    refuses(/extra data/, () =>
      check(
        { ...ecotone, header: { ...ecotone.header, extraData: Uint8Array.of(1) } },
        decoded[3 * BLOCKS_PER_FORK + 4],
      ),
    )
  })

  it('have transactions of at most 2^24 gas since Karst, and deposits of more', () => {
    const block = decoded[9 * BLOCKS_PER_FORK + 6]
    const karst = parseGenesisSpec({
      ...genesis,
      config: { ...genesis.config, karstTime: Number(block.header.timestamp) },
    })
    const rules = rulesAt(karst, block.header.number, block.header.timestamp, 0n)
    const withGas = (index: number, gasLimit: bigint) => ({
      ...block,
      transactions: block.transactions.map((each, at) => (at === index ? { ...each, gasLimit } : each)),
    })
    const user = block.transactions.findIndex(({ type }) => type !== DEPOSIT_TYPE)
    const verify = (index: number, gasLimit: bigint) => verifyBodyRules(withGas(index, gasLimit), rules, karst)
    verify(0, 20_000_000n)
    refuses(/transaction \d+: gas limit: expected at most 16777216 \(EIP-7825\)/, () => verify(user, 16_777_217n))
    refuses(/blob gas used/, () => verifyBodyRules(withGas(user, 16_777_217n), rulesOf(block), spec))
  })

  it('are refused by the rules of Ethereum with the way to choose the family', () => {
    const ethereum = { ...spec, family: undefined }
    refuses(
      /type: expected one of Ethereum, the block has 126 \(0x7e\), a deposit of the OP stack.*--rollup-config/,
      () => verifyBody(decoded[1], rulesOf(decoded[1]), ethereum),
    )
  })

  it('have rules that a genesis file keeps', () => {
    const config = JSON.parse(
      JSON.stringify(formatGenesisConfig(spec), (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    )
    assert.deepEqual(parseGenesisSpec({ ...genesis, config }), spec)
    assert.equal(formatQuantity(spec.op!.times.jovian!), formatQuantity(genesis.config.jovianTime))
  })
})

/** True for the members of a receipt that the family computes. */
function isOfFees(name: string): boolean {
  return /^(l1|operatorFee|daFootprint)/.test(name) || name === 'blobGasUsed'
}

function withoutAbsent(value: ConsensusReceipt | Transaction) {
  return Object.fromEntries(Object.entries(value).filter(([, value]) => value !== undefined))
}
