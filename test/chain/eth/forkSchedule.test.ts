import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forkHashAt } from '../../../src/chain/eth/forkId.js'
import { FORK_KEYS, requireKnownForks, UnknownFork, withForkTimes } from '../../../src/chain/eth/forkSchedule.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { builtInSpec } from '../../../src/chain/eth/genesis.js'

test('a fork that is scheduled and unknown is refused by name; one that is never reached, or no fork, is not', () => {
  const known = Object.fromEntries([...FORK_KEYS.map(([key]) => key), 'eip158Block'].map((key) => [key, 0]))
  const never = { oakTime: '18446744073709551615', ashBlock: null, elmTime: undefined }
  requireKnownForks({ ...known, ...never, chainId: 1, terminalTotalDifficulty: 0, depositContractAddress: '0x' })
  for (const [key, value] of [
    ['oakTime', 0],
    ['ashBlock', '0x10'],
    ['ubtTime', 2_000_000_000n],
  ] as const) {
    assert.throws(
      () => requireKnownForks({ ...known, [key]: value }),
      (error: unknown) => {
        assert.ok(error instanceof UnknownFork)
        assert.ok(error.message.startsWith(`config.${key}: Cairn does not know this fork, which begins at ${value};`))
        return true
      },
    )
  }
})

test('a time that is set replaces the one of the chain, or adds the fork; never removes it', () => {
  const hoodi = builtInSpec('hoodi')
  const set = withForkTimes(hoodi, { amsterdam: 1_793_036_568 })
  assert.equal(forkHashAt(set, undefined, 2n ** 62n), 0x3d068b59) // that Hoodi's nodes announce
  assert.equal(rulesAt(set, 1, 1_793_036_568n).fork, 'amsterdam')
  assert.equal(rulesAt(set, 1, 1_793_036_567n).fork, 'bpo2')
  const removed = withForkTimes(builtInSpec('sepolia'), { amsterdam: null, bpo2: 5 })
  assert.equal(rulesAt(removed, 1, 2n ** 62n).has('amsterdam'), false)
  assert.equal(rulesAt(removed, 1, 5n).fork, 'bpo2')
})
