import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { startCairn } from '../support/cairn.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* Witnesses of random chains, from databases with sparse state: those of the complete one. */

const SEEDS = THOROUGH ? 12 : 1

for (let seed = 1; seed <= SEEDS; seed++) {
  const mode = ['witness', 'proofs', 'auto'][seed % 3]
  test(`sparse state has the witnesses of the random chain of seed ${seed}, followed by ${mode}`, async (t) => {
    const folder = temporaryDirectory(t)
    const chain = await buildRandomChain(seed)
    const genesis = join(folder, 'genesis.json')
    writeFileSync(genesis, chain.genesis)
    writeFileSync(join(folder, 'chain.rlp'), chain.chainRlp)
    const complete = await startCairn(t, ['--fixture', folder])
    const { cancunTime } = (JSON.parse(chain.genesis) as { config: { cancunTime: number } }).config
    const first = await firstSince(complete.url, cancunTime)
    const sparse = await startCairn(t, [
      ...['--datadir', temporaryDirectory(t), '--open', '--genesis', genesis, '--state', 'sparse'],
      ...['--from', String(first), '--state-fetch', mode, '--upstream', complete.url],
    ])
    await untilBlockNumber(sparse, chain.head)
    for (let number = first + 1; number <= chain.head; number++) {
      const params = [formatQuantity(number), { keys: true }]
      const [own, wanted] = await Promise.all(
        [sparse, complete].map(({ url }) => ask(url, 'debug_executionWitness', params)),
      )
      assert.ok('result' in wanted)
      assert.deepEqual(own, wanted, `block ${number}`)
    }
    t.diagnostic(`${chain.head - first} witnesses`)
  })
}

/** The first block at or after a time. */
async function firstSince(url: string, time: number): Promise<number> {
  for (let number = 0; ; number++) {
    const params = [formatQuantity(number), false]
    const { timestamp } = await resultOf<{ timestamp: string }>(url, 'eth_getBlockByNumber', params)
    if (Number(timestamp) >= time) return number
  }
}
