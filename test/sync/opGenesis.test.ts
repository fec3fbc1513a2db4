import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditBlocks } from '../../src/audit/blocks.js'
import { auditState } from '../../src/audit/state.js'
import { formatData } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { hashGenesisBlock } from '../../src/sync/genesisBlock.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Hash of op-geth v1.101702.3 (core.Genesis.ToBlock). */
const HASH = '0xe7b14397a5ed232015372939f3d4cf5f42a9356fbd8bde997fedeafca9824553'

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

test('block 0 of a chain that begins with Isthmus has the storage root of L2ToL1MessagePasser', () => {
  assert.equal(formatData(hashGenesisBlock({ genesis })), HASH)
})

for (const mode of ['execute', 'none'] as const) {
  test(`it is stored and verified with --state ${mode}`, async (t) => {
    const db = openForWriting(temporaryDirectory(t))
    t.after(() => db.close())
    const { head, genesisBlock, reader } = await openWritableChain(db, { genesis }, mode)
    if (mode === 'none') {
      const block = await genesisBlock()
      head.begin()
      head.append(block, { receipts: [], totalDifficulty: 0n })
      head.commit()
    }
    assert.equal(formatData(reader.blockHash(0)!), HASH)
    assert.deepEqual(auditBlocks(db), { blocks: 1, transactions: 0, logs: 0 })
    assert.equal(auditState(db).blocks, mode === 'none' ? 0 : 1)
  })
}
