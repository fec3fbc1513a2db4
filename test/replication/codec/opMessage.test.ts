import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { decodeReceipt } from '../../../src/chain/eth/receipt.js'
import { parseHex } from '../../../src/lib/hex.js'
import { verifyReplicated } from '../../../src/replication/apply/verifyReplicated.js'
import { encodeReplicatedBlock } from '../../../src/replication/codec/message.js'
import { deriveReceipts } from '../../../src/sync/unexecutedBlock.js'
import { BLOCKS_PER_FORK, readOpChain } from '../../support/chains/op/opChain.js'

const { genesis, blocks } = readOpChain()
const spec = parseGenesisSpec(genesis)

/** A block of the recorded chain as a writer has it. */
function replicated(number: number) {
  const block = decodeBlock(parseHex(blocks[number].raw))
  const rules = rulesAt(spec, number, block.header.timestamp, 0n)
  const consensus = blocks[number].rawReceipts.map((bytes) => decodeReceipt(parseHex(bytes)))
  return { block, receipts: deriveReceipts(block, consensus, rules), totalDifficulty: 0n }
}

test('blocks of the OP stack reach a replica with the nonces of their deposits', () => {
  for (let number = 1; number < blocks.length; number += BLOCKS_PER_FORK / 3) {
    const sent = replicated(number)
    const { block, parts } = verifyReplicated(encodeReplicatedBlock(sent), spec)
    assert.deepEqual(
      block.transactions.map(({ hash, from, nonce }) => ({ hash, from, nonce })),
      sent.block.transactions.map(({ hash, from, nonce }) => ({ hash, from, nonce })),
    )
    assert.deepEqual(
      parts.receipts.map(({ contractAddress, depositNonce }) => ({ contractAddress, depositNonce })),
      sent.receipts.map(({ contractAddress, depositNonce }) => ({ contractAddress, depositNonce })),
    )
  }
})

test('a message with another sender of a deposit is refused', () => {
  const sent = replicated(200)
  const encoded = encodeReplicatedBlock(sent)
  sent.block.transactions[0].from = new Uint8Array(20).fill(1)
  const forged = encodeReplicatedBlock(sent)
  assert.notDeepEqual(forged.payload, encoded.payload)
  assert.throws(() => verifyReplicated(forged, spec), /sender|from|transactions root/)
})
