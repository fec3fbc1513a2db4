import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forkHashAt } from '../../../../../src/chain/eth/forkId.js'
import { rulesAt } from '../../../../../src/chain/eth/forks/rules.js'
import { builtInGenesis, builtInSpec } from '../../../../../src/chain/eth/genesis.js'

test('networks of the OP stack have the fork ids that op-geth 1.101702.3 computes', () => {
  const ids = {
    'op-mainnet': [0xbdd4fdb2, 0x37be758f, 0xd53e568f, 0xc29239af],
    'op-sepolia': [0xa48d6a00, 0x079f2fd8, 0x079f2fd8, 0x91620456],
  } as const
  for (const [network, expected] of Object.entries(ids)) {
    const { spec, hash } = builtInGenesis(network as keyof typeof ids)
    const times = [1_704_992_401n, 1_763_568_001n, 1_764_691_201n, 1_790_000_000n]
    assert.deepEqual(
      times.map((time) => forkHashAt(spec, hash, time)),
      expected,
      network,
    )
  }
})

test('the first block of Bedrock has the rules after the merge', () => {
  const rules = rulesAt(builtInSpec('op-mainnet'), 105_235_063, 1_686_068_903n, 0n)
  assert.deepEqual([rules.isProofOfStake, rules.eip1559, rules.eip4895], [true, true, false])
})
