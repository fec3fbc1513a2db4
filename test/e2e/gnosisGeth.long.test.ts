import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { buildGnosisChain, WATCHED_ACCOUNTS } from '../../tools/gnosisChain/buildGnosisChain.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { withoutNewMembers } from '../support/chains/gnosis/gnosisChain.js'
import { resultsOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilBlockNumber } from '../support/until.js'
import { SKIP_GNOSIS_GETH, serveWithGeth } from '../support/upstream/geth.js'

/* geth of Gnosis imports a random chain, and the program follows it with sparse state from its proofs. */

/** A block of Cancun, from which on proofs are enough. */
const FIRST = 10
const SEED = 1

test('sparse state follows geth of Gnosis on a random chain', { skip: SKIP_GNOSIS_GETH }, async (t) => {
  const folder = temporaryDirectory(t)
  const { genesis, builder } = await buildGnosisChain(t, join(folder, 'own'), SEED)
  const [genesisFile, chain] = [join(folder, 'genesis.json'), join(folder, 'chain.rlp')]
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(chain, builder.encode())
  const parts = { datadir: join(folder, 'geth'), genesis: genesisFile, chain, program: 'gnosis-geth' } as const
  const geth = await serveWithGeth(t, parts)
  const datadir = join(folder, 'data')
  const sparse = ['--state', 'sparse', '--from', String(FIRST), '--upstream', geth]
  const { url, stop } = await startCairn(t, ['--datadir', datadir, '--open', '--genesis', genesisFile, ...sparse])
  const head = builder.blocks.length
  await untilBlockNumber({ url }, head)
  const ids = Array.from({ length: head - FIRST }, (_, i) => formatQuantity(FIRST + 1 + i))
  const same = async (method: string, params: unknown[][]) => {
    const expected = await resultsOf(geth, method, params)
    for (const [i, found] of (await resultsOf(url, method, params)).entries()) {
      assert.deepEqual(
        withoutNewMembers(found),
        withoutNewMembers(expected[i]),
        `${method} ${JSON.stringify(params[i])}`,
      )
    }
  }
  await same(
    'eth_getBlockByNumber',
    ids.map((id) => [id, true]),
  )
  await same(
    'eth_getBlockReceipts',
    ids.map((id) => [id]),
  )
  const tracers = ['callTracer', 'prestateTracer'].map((tracer) => ({ tracer }))
  await same(
    'debug_traceBlockByNumber',
    ids.flatMap((id) => tracers.map((options) => [id, options])),
  )
  await same(
    'eth_getBalance',
    ids.flatMap((id) => WATCHED_ACCOUNTS.map((address) => [formatData(address), id])),
  )
  await stop()
  await runCairnOk(['verify', '--datadir', datadir])
})
