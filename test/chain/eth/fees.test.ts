import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blobBaseFeeOf, nextBaseFee, nextExcessBlobGas } from '../../../src/chain/eth/fees.js'
import { type ChainSpec, type Rules, rulesAt } from '../../../src/chain/eth/forks/rules.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { seededRandom } from '../../support/random.js'

const spec: ChainSpec = {
  name: 'test',
  chainId: 1n,
  activations: [
    { fork: 'frontier', block: 0 },
    { fork: 'cancun', timestamp: 0n },
    { fork: 'prague', timestamp: 100n },
    { fork: 'osaka', timestamp: 200n },
    { fork: 'bpo1', timestamp: 300n },
  ],
  daoForkSupport: false,
  blobSchedules: { bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8346193n } },
  ethash: true,
}
const at = (timestamp: number): Rules => rulesAt(spec, 1, BigInt(timestamp))
const BLOB = 131_072n
/** A parent with only what the formulas read. */
const parentWith = (fields: Partial<Header>) => fields as Header

describe('nextBaseFee', () => {
  it('rises and falls by at most an eighth, and stays when the block is half full', () => {
    const fee = (baseFeePerGas: bigint, gasUsed: bigint) =>
      nextBaseFee(parentWith({ baseFeePerGas, gasLimit: 20_000_000n, gasUsed }))
    assert.equal(fee(1_000_000_000n, 10_000_000n), 1_000_000_000n)
    assert.equal(fee(1_000_000_000n, 9_000_000n), 987_500_000n)
    assert.equal(fee(1_000_000_000n, 11_000_000n), 1_012_500_000n)
    assert.equal(fee(800n, 20_000_000n), 900n)
    assert.equal(fee(800n, 0n), 700n)
    assert.equal(fee(7n, 10_000_001n), 8n) // at least one wei up
    assert.equal(fee(7n, 0n), 7n)
  })

  it('starts at one gwei after a parent without one', () => {
    assert.equal(nextBaseFee(parentWith({ gasLimit: 5000n, gasUsed: 0n })), 1_000_000_000n)
  })
})

describe('blobBaseFee', () => {
  it('is one wei at no excess and grows by the update fraction of the fork', () => {
    assert.equal(blobBaseFeeOf(0n, at(0)), 1n)
    assert.equal(blobBaseFeeOf(2_314_057n, at(0)), 1n)
    assert.equal(blobBaseFeeOf(2_314_058n, at(0)), 2n)
    assert.equal(blobBaseFeeOf(10n * 1024n * 1024n, at(0)), 23n)
    assert.ok(blobBaseFeeOf(2n ** 26n, at(100)) < blobBaseFeeOf(2n ** 26n, at(0)))
    assert.throws(
      () => blobBaseFeeOf(0n, rulesAt({ ...spec, activations: spec.activations.slice(0, 1) }, 1, 0n)),
      RangeError,
    )
  })

  it('follows the exponential function at random excess', () => {
    const random = seededRandom(10)
    for (let i = 0; i < 200; i++) {
      const excess = BigInt(50_000_000 + random.below(60_000_000))
      const exact = Math.exp(Number(excess) / 3_338_477)
      const result = Number(blobBaseFeeOf(excess, at(0)))
      assert.ok(Math.abs(result - exact) <= 1 + exact * 1e-6, `${excess}: ${result} against ${exact}`)
    }
  })
})

describe('nextExcessBlobGas', () => {
  const next = (excess: bigint, blobs: bigint, timestamp: number, baseFeePerGas = 1n) =>
    nextExcessBlobGas(parentWith({ excessBlobGas: excess, blobGasUsed: blobs * BLOB, baseFeePerGas }), at(timestamp))

  it('adds what was used beyond the target of the block itself', () => {
    assert.equal(nextExcessBlobGas(parentWith({}), at(0)), 0n)
    assert.equal(next(0n, 3n, 0), 0n)
    assert.equal(next(0n, 5n, 0), 2n * BLOB)
    assert.equal(next(0n, 5n, 100), 0n)
    assert.equal(next(10n * BLOB, 0n, 100), 4n * BLOB)
    assert.equal(next(2n * BLOB, 0n, 100), 0n)
  })

  it('does not lower the excess below the reserve price from Osaka on', () => {
    // 8192 × base fee is above 131072 × 1 wei from 17 wei on.
    assert.equal(next(20n * BLOB, 6n, 200, 16n), 20n * BLOB)
    assert.equal(next(20n * BLOB, 6n, 100, 1_000n), 20n * BLOB)
    assert.equal(next(20n * BLOB, 6n, 200, 1_000n), 20n * BLOB + (6n * BLOB * 3n) / 9n)
    assert.equal(next(20n * BLOB, 6n, 300, 1_000n), 20n * BLOB + (6n * BLOB * 5n) / 15n)
    assert.equal(next(0n, 5n, 200, 1_000n), 0n)
  })
})
