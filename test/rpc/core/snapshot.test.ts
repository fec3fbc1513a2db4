import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { createDispatcher } from '../../../src/rpc/core/dispatch.js'
import type { RpcOutcome } from '../../../src/rpc/core/envelope.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { METHODS } from '../../../src/rpc/methods.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { sourceOf } from '../../support/chains/fixture.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

test('a call of a point method reads one chain, whatever is committed between its reads', async (t) => {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random: seededRandom(8) })
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const opened = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger, mainThread: true })
  t.after(() => opened.close())
  let onTransactions = () => {}
  const reader = opened.context.chain
  const meanwhile: typeof reader = {
    ...reader,
    transactions(block) {
      onTransactions()
      return reader.transactions(block)
    },
  }
  const dispatcher = createDispatcher({
    ...{ methods: METHODS, context: { ...opened.context, chain: meanwhile }, log: silentLogger },
    remote: { run: () => assert.fail('a thread was asked') },
    withSnapshot: opened.watch.withSnapshot,
  })
  const full = trunk.findLast(({ transactions }) => transactions.length > 0)!.header.number
  const ask = () => {
    const call = { method: 'eth_getBlockReceipts', params: [`0x${full.toString(16)}`], idText: '1' }
    const outcome = dispatcher.dispatch(call) as RpcOutcome
    return 'error' in outcome ? outcome.error.message : JSON.parse(Buffer.from(outcome.result).toString())
  }
  const before = ask()
  assert.equal(before.length, trunk[full - 1].transactions.length)
  onTransactions = () => {
    onTransactions = () => {}
    chain.head.rewind(full - 1, { byOperator: true })
    chain.head.commit()
  }
  assert.deepEqual(ask(), before)
  assert.equal(ask(), null)
})
