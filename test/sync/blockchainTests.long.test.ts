import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BlockchainTest, readBlockchainTests } from '../support/chains/blockchainTest.js'
import { importBlockchainTest } from '../support/chains/importBlockchainTest.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'

const folder = sharedPath('blockchain-tests')

for (const kind of ['ValidBlocks', 'InvalidBlocks', 'TransitionTests']) {
  test(`official blockchain tests: ${kind}`, { skip: SKIP_SHARED }, async (t) => {
    for (const { name, test: blockchainTest } of readBlockchainTests(`${folder}/${kind}`)) {
      const skip = !isLinear(blockchainTest) && 'chooses between branches'
      await t.test(name, { skip }, (child) => importBlockchainTest(child, blockchainTest))
    }
  })
}

test('the reference interpreter executes the same, across forks', { skip: SKIP_SHARED }, async (t) => {
  for (const { name, test: blockchainTest } of readBlockchainTests(`${folder}/TransitionTests`)) {
    if (isLinear(blockchainTest))
      await t.test(name, (child) => importBlockchainTest(child, blockchainTest, 'reference'))
  }
})

test('all official blockchain tests but these three are one line of blocks', { skip: SKIP_SHARED }, () => {
  const branching = Array.from(readBlockchainTests(folder!)).filter((entry) => !isLinear(entry.test))
  // From files the first branch is the chain; these continue with a second one of more difficulty.
  assert.deepEqual(
    branching.map(({ name }) => name.split(': ')[1]),
    [
      'initialVal_BerlinToLondonAt5',
      'HomesteadOverrideFrontier_FrontierToHomesteadAt5',
      'blockChainFrontierWithLargerTDvsHomesteadBlockchain2_FrontierToHomesteadAt5',
    ],
  )
})

/** True when the valid blocks of a test follow one another. */
function isLinear({ blocks }: BlockchainTest): boolean {
  const valid = blocks.filter((block) => block.expectException === undefined)
  return valid.every((block, index) => Number(block.blockHeader!.number) === index + 1)
}
