import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { hashGenesisBlock } from '../../src/sync/chainState.js'

/* Hash of op-geth v1.101702.3 (core.Genesis.ToBlock). */
const HASH = '0xe7b14397a5ed232015372939f3d4cf5f42a9356fbd8bde997fedeafca9824553'

test('block 0 of a chain that begins with Isthmus has the storage root of L2ToL1MessagePasser', () => {
  const forks = ['regolith', 'canyon', 'ecotone', 'fjord', 'granite', 'holocene', 'isthmus'].map((fork) => [
    `${fork}Time`,
    0,
  ])
  const genesis = {
    config: { chainId: 901, bedrockBlock: 0, ...Object.fromEntries(forks), optimism: {} },
    timestamp: '0x3e8',
    gasLimit: '0x1c9c380',
    difficulty: '0x0',
    baseFeePerGas: '0x3b9aca00',
    alloc: {
      '0x4200000000000000000000000000000000000016': {
        code: '0x00',
        balance: '0x0',
        storage: {
          '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc': `0x${'c0d3'.repeat(9)}0016`,
          '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103': `0x42${'0'.repeat(36)}18`,
        },
      },
      '0x0000000000000000000000000000000000000001': { balance: '0x1' },
    },
  }
  assert.equal(formatData(hashGenesisBlock({ genesis })), HASH)
})
