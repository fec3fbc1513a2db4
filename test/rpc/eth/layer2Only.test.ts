import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { LAYER_2_ONLY } from '../../../src/rpc/core/requireChain.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { exampleValues, readExamples } from '../../../src/rpc/examples.js'
import { ALL_METHODS } from '../../../src/rpc/methods.js'
import { packagePath } from '../../../src/store/open.js'
import { openL2Database } from '../../support/chains/l2.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { writeHandmadeChain } from './handmadeChain.js'

/** Methods that create or use something that reports future blocks: the first blocks may be imported later. */
const OF_LATER_BLOCKS = /^eth_(subscribe|unsubscribe|new\w*Filter|uninstallFilter|getFilter\w+)$/

test('a database with layer 2 only answers every Ethereum method with one error that names the command', async (t) => {
  const datadir = temporaryDirectory(t)
  const database = openL2Database(datadir)
  t.after(() => database.close())
  await database.importFile(packagePath('fixtures/chain/l2.ndjson'), { verify: 'off' })
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => close())
  assert.match(LAYER_2_ONLY.message, /'cairn import --genesis FILE PATH\.\.\.'/)
  const ofChain = /^(eth|net|web3|debug|cairn)_/
  const methods = ALL_METHODS.filter(
    ({ name, chainless }) => ofChain.test(name) && !chainless && !OF_LATER_BLOCKS.test(name),
  )
  assert.ok(methods.length > 30)
  for (const method of methods) {
    const { example } = readExamples()[method.name]
    const params = exampleValues(method, example!)
    assert.deepEqual(await runMethod(method, params, context), { error: LAYER_2_ONLY }, method.name)
  }
})

test('starknet_ methods say of a database without layer 2 that it has none, in the words of the specification', async (t) => {
  const datadir = temporaryDirectory(t)
  writeHandmadeChain(datadir)
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => close())
  for (const [name, params, expected] of [
    ['starknet_blockNumber', [], { code: 32, message: 'There are no blocks' }],
    ['starknet_blockHashAndNumber', [], { code: 32, message: 'There are no blocks' }],
    ['starknet_getBlockWithTxHashes', ['latest'], { code: 24, message: 'Block not found' }],
    ['starknet_getBlockTransactionCount', ['latest'], { code: 24, message: 'Block not found' }],
  ] as const) {
    const method = ALL_METHODS.find((each) => each.name === name)!
    const outcome = await runMethod(method, params, context)
    const data = "the database holds no layer-2 blocks; import some with 'cairn import PATH...'"
    assert.deepEqual(outcome, { error: { ...expected, data } })
  }
})
