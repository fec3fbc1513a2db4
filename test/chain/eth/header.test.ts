import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { decodeHeader, encodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'

function randomHeader(seed: number, laterFields: number): Header {
  const random = seededRandom(seed)
  const header: Header = {
    parentHash: random.bytes(32),
    unclesHash: random.bytes(32),
    miner: random.bytes(20),
    stateRoot: random.bytes(32),
    transactionsRoot: random.bytes(32),
    receiptsRoot: random.bytes(32),
    logsBloom: random.bytes(256),
    difficulty: 0n,
    number: 1 + random.below(2 ** 31),
    gasLimit: 30_000_000n + BigInt(random.below(2 ** 31)),
    gasUsed: 21000n,
    timestamp: BigInt(random.below(2 ** 32)) * BigInt(random.below(2 ** 32)),
    extraData: random.bytes(random.below(33)),
    mixHash: random.bytes(32),
    nonce: new Uint8Array(8),
    baseFeePerGas: laterFields > 0 ? BigInt(random.below(2 ** 31)) : undefined,
    withdrawalsRoot: laterFields > 1 ? random.bytes(32) : undefined,
    blobGasUsed: laterFields > 2 ? 131072n : undefined,
    excessBlobGas: laterFields > 3 ? 0n : undefined,
    parentBeaconBlockRoot: laterFields > 4 ? random.bytes(32) : undefined,
    requestsHash: laterFields > 5 ? random.bytes(32) : undefined,
    blockAccessListHash: laterFields > 6 ? random.bytes(32) : undefined,
    slotNumber: laterFields > 7 ? 2n ** 64n - 1n : undefined,
  }
  return header
}

describe('header codec', () => {
  it('reads back what it writes, for every count of fields', () => {
    for (let later = 0; later <= 8; later++) {
      const header = randomHeader(later, later)
      assert.deepEqual(decodeHeader(encodeHeader(header)), header)
    }
  })

  it('hashes as another implementation does', () => {
    const cases: [number, Hardfork][] = [
      [1, Hardfork.London],
      [2, Hardfork.Shanghai],
      [5, Hardfork.Cancun],
      [6, Hardfork.Prague],
    ]
    for (const [later, hardfork] of cases) {
      const header = { ...randomHeader(later, later), extraData: new Uint8Array(0), unclesHash: EMPTY_UNCLES }
      const common = new Common({ chain: Mainnet, hardfork })
      const theirs = createBlockHeader(
        {
          ...header,
          coinbase: `0x${Buffer.from(header.miner).toString('hex')}`,
          uncleHash: header.unclesHash,
          transactionsTrie: header.transactionsRoot,
          receiptTrie: header.receiptsRoot,
        } as never,
        { common, skipConsensusFormatValidation: true },
      )
      assert.equal(formatData(hashHeader(header)), formatData(theirs.hash()), hardfork)
    }
  })

  it('names the field that is wrong', () => {
    const fields = () => [
      ...[32, 32, 20, 32, 32, 32, 256].map((length) => new Uint8Array(length)),
      ...[1, 2, 3, 4, 5].map((n) => new Uint8Array([n])),
      new Uint8Array(0),
      new Uint8Array(32),
      new Uint8Array(8),
    ]
    assert.equal(decodeHeader(encodeRlp(fields())).number, 2)
    const refused = (at: number, value: Uint8Array<ArrayBuffer>) => encodeRlp(fields().with(at, value))
    assert.throws(() => decodeHeader(refused(2, new Uint8Array(19))), {
      message: 'header.miner: expected 20 bytes, got 19',
    })
    assert.throws(() => decodeHeader(refused(6, new Uint8Array(255)), 'uncles[1]'), {
      message: 'uncles[1].logsBloom: expected 256 bytes, got 255',
    })
    assert.throws(
      () => decodeHeader(refused(9, new Uint8Array(9).fill(1))),
      /header\.gasLimit: expected an integer of at most 64 bits/,
    )
    assert.throws(
      () => decodeHeader(refused(8, Uint8Array.of(0))),
      /header\.number: expected an integer without leading zeros/,
    )
    assert.throws(() => decodeHeader(encodeRlp(fields().slice(1))), {
      message: 'header: expected 15 to 23 items, got 14',
    })
    assert.throws(() => decodeHeader(encodeRlp(5)), /header: expected a list/)
  })

  it('refuses to write a later field without the one before it', () => {
    assert.throws(() => encodeHeader({ ...randomHeader(9, 3), withdrawalsRoot: undefined }), RangeError)
  })
})

const EMPTY_UNCLES = Uint8Array.from(
  Buffer.from('1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347', 'hex'),
)
