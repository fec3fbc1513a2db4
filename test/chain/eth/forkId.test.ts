import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Holesky, Hoodi, Mainnet, Sepolia } from '@ethereumjs/common'
import { forkHashAt } from '../../../src/chain/eth/forkId.js'
import { builtInSpec, parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { parseHex } from '../../../src/lib/hex.js'

const NETWORKS = { mainnet: Mainnet, sepolia: Sepolia, holesky: Holesky, hoodi: Hoodi } as const

for (const [name, { hardforks }] of Object.entries(NETWORKS)) {
  test(`the fork hashes of ${name} are those that its nodes announce`, () => {
    const spec = builtInSpec(name as keyof typeof NETWORKS)
    const announced = hardforks.filter(({ timestamp, forkHash }) => timestamp !== undefined && forkHash)
    assert.ok(announced.length >= 5)
    for (const { timestamp, forkHash } of announced) {
      assert.equal(forkHashAt(spec, undefined, BigInt(timestamp!)), Number(forkHash), `at ${timestamp}`)
    }
  })
}

test('Sepolia enters Amsterdam at the time that its fork id follows from; mainnet and Hoodi have none', () => {
  const latest = (network: keyof typeof NETWORKS) => forkHashAt(builtInSpec(network), undefined, 2n ** 62n)
  assert.equal(latest('sepolia'), 0x6c1d9423)
  assert.equal(latest('hoodi'), Number(Hoodi.hardforks.findLast(({ forkHash }) => forkHash)!.forkHash))
  assert.equal(latest('mainnet'), 0x07c9462e)
})

test('a genesis file needs its hash, and counts each fork once, those of block 0 never', () => {
  const genesisHash = parseHex('0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3')
  const spec = parseGenesisSpec({
    timestamp: '0x64',
    config: {
      ...{ homesteadBlock: 1_150_000, daoForkBlock: 1_920_000, eip150Block: 2_463_000, eip155Block: 2_675_000 },
      ...{ byzantiumBlock: 4_370_000, constantinopleBlock: 7_280_000, petersburgBlock: 7_280_000 },
      ...{ istanbulBlock: 9_069_000, muirGlacierBlock: 9_200_000, berlinBlock: 12_244_000, londonBlock: 12_965_000 },
      ...{ arrowGlacierBlock: 13_773_000, grayGlacierBlock: 15_050_000, terminalTotalDifficulty: 1 },
      ...{ shanghaiTime: 100, cancunTime: 1_681_338_455 },
    },
  })
  assert.equal(forkHashAt(spec, undefined, 100n), undefined)
  // Mainnet's, where Shanghai's time is that of Cancun here.
  assert.equal(forkHashAt(spec, genesisHash, 100n), 0xf0afd0e3)
  assert.equal(forkHashAt(spec, genesisHash, 1_681_338_455n), 0xdce96c2d)
})
