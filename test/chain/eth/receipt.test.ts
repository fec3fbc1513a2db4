import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeReceipt as theirEncodeReceipt } from '@ethereumjs/vm'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { decodeReceipt, decodeReceipts, encodeReceipt, receiptsRoot } from '../../../src/chain/eth/receipt.js'
import { encodeListOf, encodeRlp } from '../../../src/chain/eth/rlp.js'
import { orderedTrieRoot } from '../../../src/chain/eth/trie.js'
import type { ConsensusReceipt, TransactionType } from '../../../src/chain/eth/types.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'

function randomReceipt(random: SeededRandom, type: TransactionType): ConsensusReceipt {
  const logs = Array.from({ length: random.below(4) }, () => ({
    address: random.bytes(20),
    topics: Array.from({ length: random.below(5) }, () => random.bytes(32)),
    data: random.bytes(random.below(random.below(5) === 0 ? 70_000 : 100)),
  }))
  const beforeByzantium = type === 0 && random.below(2) === 0
  return {
    type,
    status: beforeByzantium ? undefined : random.below(2) === 0 ? 0 : 1,
    root: beforeByzantium ? random.bytes(32) : undefined,
    cumulativeGasUsed: BigInt(random.below(2 ** 31)),
    logsBloom: bloomOf(logs),
    logs,
  }
}

describe('receipt codec', () => {
  it('agrees with another implementation and reads back what it writes, for every type', () => {
    const random = seededRandom(8)
    for (const type of [0, 1, 2, 3, 4] as const) {
      for (let i = 0; i < 10; i++) {
        const receipt = randomReceipt(random, type)
        const bytes = encodeReceipt(receipt)
        const theirs = theirEncodeReceipt(
          {
            cumulativeBlockGasUsed: receipt.cumulativeGasUsed,
            bitvector: receipt.logsBloom,
            logs: receipt.logs.map((log) => [log.address, log.topics, log.data]),
            ...(receipt.root ? { stateRoot: receipt.root } : { status: receipt.status }),
          } as never,
          type,
        )
        assert.deepEqual(bytes, Uint8Array.from(theirs))
        assert.deepEqual(decodeReceipt(bytes), receipt)
      }
    }
  })

  it('reads a list of legacy and typed receipts', () => {
    const random = seededRandom(9)
    const receipts = ([0, 2, 0, 4] as TransactionType[]).map((type) => randomReceipt(random, type))
    const items = receipts.map((receipt) =>
      receipt.type === 0 ? encodeReceipt(receipt) : encodeRlp(encodeReceipt(receipt)),
    )
    assert.deepEqual(decodeReceipts(encodeListOf(items)), receipts)
    assert.deepEqual(receiptsRoot(receipts), orderedTrieRoot(receipts.map(encodeReceipt)))
    const wrapped = encodeListOf([encodeRlp(encodeReceipt(receipts[0]))])
    assert.throws(() => decodeReceipts(wrapped), /receipts\[0\]: expected a list or a typed receipt/)
  })

  it('names the field that is wrong', () => {
    const log = [new Uint8Array(20), [new Uint8Array(32), new Uint8Array(31)], new Uint8Array(0)]
    const encoded = (status: Uint8Array, logs: (typeof log)[]) => encodeRlp([status, 1, new Uint8Array(256), logs])
    assert.throws(() => decodeReceipt(encoded(Uint8Array.of(1), [log])), {
      message: 'receipt.logs[0].topics[1]: expected 32 bytes, got 31',
    })
    assert.throws(() => decodeReceipt(encoded(Uint8Array.of(2), [])), {
      message: 'receipt.status: expected no bytes, 0x01 or a root of 32 bytes, got 0x02',
    })
    assert.throws(
      () => decodeReceipt(concatBytes(Uint8Array.of(5), encoded(Uint8Array.of(1), []))),
      /receipt\.type: expected 1 to 4 or 126, got 5/,
    )
    assert.throws(() => encodeReceipt({ ...randomReceipt(seededRandom(1), 2), status: undefined }), RangeError)
  })
})
