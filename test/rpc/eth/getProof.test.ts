import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DeadlineExceeded } from '../../../src/lib/deadline.js'
import { formatQuantity } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { executionWitness } from '../../../src/rpc/debug/executionWitness.js'
import { getProof } from '../../../src/rpc/eth/getProof.js'
import { ALICE, COUNTER, TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { openCheckedChain } from '../../support/compare/checkProofs.js'
import { temporaryDirectory } from '../../support/temporary.js'

const datadir = temporaryDirectory({ after })
await importFixture(datadir)
const chain = await openCheckedChain({ after }, datadir)
const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
after(close)
const address = `0x${'ab'.repeat(20)}`

test('proofs of random accounts and slots at random heights verify against the header', async () => {
  await chain.checkProofs(7, 150)
})

test('each block of the fixture is executed from its witness alone', async () => {
  for (let number = chain.head; number > 0; number--) await chain.executeFromWitness(number)
})

test('storage keys are limited, and repeated as they were sent', async () => {
  const many = await runMethod(getProof, [address, Array(1025).fill('0x0')], context)
  assert.deepEqual('error' in many && many.error, {
    code: -32602,
    message: 'too many storage keys requested (max 1024, got 1025)',
  })
  const outcome = await runMethod(getProof, [address, ['0x00', `0x${'00'.repeat(32)}`]], context)
  assert.ok('result' in outcome)
  const { storageProof } = JSON.parse(Buffer.from(outcome.result).toString())
  assert.deepEqual(storageProof, [
    { key: '0x0', value: '0x0', proof: [] },
    { key: `0x${'00'.repeat(32)}`, value: '0x0', proof: [] },
  ])
})

test('the hashes of an absent account are those of nothing, and zeros as in geth where that is asked for', async () => {
  const proofOf = async (compatibility: 'specification' | 'geth', account: string, block: string) => {
    const outcome = await runMethod(getProof, [account, ['0x0'], block], { ...context, compatibility })
    assert.ok('result' in outcome)
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
  const zero = `0x${'00'.repeat(32)}`
  for (const [account, block] of [
    [address, 'latest'],
    [COUNTER, '0x7'], // destroyed in that block
  ]) {
    const specified = await proofOf('specification', account, block)
    assert.match(specified.codeHash, /^0xc5d24601/)
    assert.match(specified.storageHash, /^0x56e81f17/)
    assert.deepEqual(await proofOf('geth', account, block), { ...specified, codeHash: zero, storageHash: zero })
  }
  for (const account of [ALICE, TOKEN]) {
    assert.deepEqual(await proofOf('geth', account, 'latest'), await proofOf('specification', account, 'latest'))
  }
})

test('a trie that cannot be restored in time is refused with the distance from the head', async () => {
  const check = () => {
    throw new DeadlineExceeded(5000)
  }
  const deadline = { limitMs: 5000, remainingMs: () => 0, check }
  const outcome = await runMethod(getProof, [address, [], '0x1'], { ...context, deadline })
  assert.deepEqual('error' in outcome && outcome.error, {
    code: -32000,
    message:
      `eth_getProof: the state trie of block 1 cannot be restored within 5s: it is ${chain.head - 1} blocks behind the head; ` +
      'ask for one of the last 128 blocks, or raise --call-timeout',
  })
})

test('the witness has keys on request only: of the block, not of the caller of system calls', async () => {
  const ask = async (...params: unknown[]) => {
    const outcome = await runMethod(executionWitness, params, context)
    assert.ok('result' in outcome)
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
  const newest = formatQuantity(chain.head)
  const { keys, ...without } = await ask(newest, { keys: true })
  for (const options of [[], [null], [{}], [{ keys: null }], [{ keys: false }], ['canonical']])
    assert.deepEqual(await ask(newest, ...options), without)
  const historyContract = '0x0000f90827f1c53a10cb7a02335b175320002935'
  assert.ok(keys.includes(historyContract))
  assert.ok(!keys.includes(`0x${'f'.repeat(39)}e`))
  assert.deepEqual(Object.keys(without), ['state', 'codes', 'headers'])
})

test('block 0 has no witness, and a block that does not exist gives null', async () => {
  const none = await runMethod(executionWitness, ['0x0'], context)
  assert.deepEqual('error' in none && none.error, {
    code: -32000,
    message: 'block 0 is not executed, it has no witness',
  })
  const unknown = await runMethod(executionWitness, ['0xffff'], context)
  assert.ok('result' in unknown && Buffer.from(unknown.result).toString() === 'null')
})
