import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { nextDifficulty } from '../../../src/chain/eth/difficulty.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { builtInSpec } from '../../../src/chain/eth/genesis.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { parseHex } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'

const spec = builtInSpec('mainnet')
const NO_UNCLES = parseHex('0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347')

/** The difficulty by the package, which knows mainnet's forks by itself. */
function theirDifficulty(parent: Header, number: number, timestamp: bigint): bigint {
  const common = new Common({ chain: Mainnet })
  common.setHardforkBy({ blockNumber: number })
  const options = { common, skipConsensusFormatValidation: true }
  const { difficulty, unclesHash } = parent
  const theirParent = createBlockHeader(
    { number: number - 1, timestamp: parent.timestamp, difficulty, uncleHash: unclesHash, gasLimit: 30_000_000 },
    options,
  )
  const child = createBlockHeader({ number, timestamp, gasLimit: 30_000_000 }, options)
  return child.ethashCanonicalDifficulty(theirParent)
}

describe('nextDifficulty', () => {
  const forks: [string, number][] = [
    ['frontier', 200_001],
    ['frontier, bomb', 1_100_000],
    ['homestead', 1_150_001],
    ['homestead, bomb at its worst', 4_369_000],
    ['byzantium', 4_370_001],
    ['byzantium, bomb', 7_200_000],
    ['petersburg', 7_280_001],
    ['istanbul, bomb', 9_199_000],
    ['muirGlacier', 9_200_001],
    ['berlin', 12_244_001],
    ['arrowGlacier', 13_773_001],
    ['grayGlacier', 15_050_001],
    ['grayGlacier, bomb', 15_500_000],
  ]
  for (const [name, number] of forks) {
    it(`equals another implementation at ${name}`, () => {
      const random = seededRandom(number)
      for (let i = 0; i < 40; i++) {
        // Far above the least difficulty, which the package bounds after the bomb and geth before it.
        const difficulty = 2n ** 30n + BigInt(random.below(2 ** 40)) * BigInt(1 + random.below(10_000))
        const timestamp = 1_500_000_000n
        const unclesHash = random.below(2) === 0 ? NO_UNCLES : random.bytes(32)
        const parent = { number: number - 1, difficulty, timestamp, unclesHash } as Header
        const child = timestamp + 1n + BigInt(i % 4 === 0 ? random.below(2000) : random.below(40))
        const rules = rulesAt(spec, number, child)
        assert.equal(nextDifficulty(parent, number, child, rules), theirDifficulty(parent, number, child))
      }
    })
  }

  /** Of a parent whose difficulty stays as it is for a child `elapsed` seconds later. */
  const after = (number: number, difficulty: bigint, elapsed: number) => {
    const parent = { number: number - 1, difficulty, timestamp: 1000n, unclesHash: NO_UNCLES } as Header
    const timestamp = BigInt(1000 + elapsed)
    return nextDifficulty(parent, number, timestamp, rulesAt(spec, number, timestamp))
  }

  it('delays the bomb of London by 9,700,000 blocks (EIP-3554)', () => {
    // The package has 9,500,000, which was a draft's.
    assert.equal(after(12_965_001, 2n ** 50n, 9), 2n ** 50n + 2n ** 30n)
    assert.equal(after(13_000_000, 2n ** 50n, 9), 2n ** 50n + 2n ** 31n)
  })

  it('is bounded before the bomb is added', () => {
    assert.equal(after(100, 131_072n, 1000), 131_072n)
    assert.equal(after(300_000, 131_072n, 1000), 131_074n)
    assert.equal(after(9_200_001, 131_072n, 1000), 131_073n)
  })
})
