import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Block } from '../../../src/chain/eth/types.js'
import { systemClock } from '../../../src/sources/upstreams/clock.js'
import { createMetaTable, META_FINALITY } from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { startCairn } from '../../support/cairn.js'
import { BRANCHES_GENESIS, openBranches } from '../../support/chains/branches.js'
import { compareRows } from '../../support/compare/compareChains.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { followHere } from '../../support/upstream/followHere.js'

// With as many bytes: 40 MB.
const [DEPTH, CALLDATA_BYTES] = THOROUGH ? [2000, 20_000] : [1000, 40_000]
const COMMON = 10
const MIB = 2 ** 20

/** A chain with a common beginning and `count` blocks, each with that much call data. */
async function build(datadir: string, random: SeededRandom, count: number, calldataBytes: number): Promise<Block[]> {
  const { db } = await openBranches(datadir)
  db.close()
  const writer = openForWriting(datadir)
  const builder = await createChainBuilder(writer, BRANCHES_GENESIS)
  for (let i = 0; i < COMMON; i++) await builder.add()
  const sender = createSender('branches north')
  for (let i = 0; i < count; i++) {
    const input = random.bytes(calldataBytes)
    await builder.add({
      transactions: [{ sender, type: 2, gasLimit: 2_000_000n, to: new Uint8Array(20).fill(9), input }],
    })
  }
  writer.close()
  return builder.blocks
}

test(`a reorg of ${DEPTH} blocks does not hold them in memory`, async (t) => {
  const random = seededRandom(158)
  const [datadir, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  await build(datadir, random, DEPTH, 100)
  const branch = await build(other, random, DEPTH + 1, CALLDATA_BYTES)
  const head = branch.at(-1)!.hash
  branch.length = 0
  const server = await startCairn(t, ['--datadir', other, '--open'])
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  createMetaTable(db).set(META_FINALITY, { safe: COMMON, finalized: COMMON }) // as if its blocks had come from an upstream

  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const measure = () => {
    collect()
    collect() // V8 frees the buffers that the first one found beside it, and counts them until the next one
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = measure()
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, measure())
  }, 500)
  const followed = followHere(t, chain, [server.url], {
    ...{ clock: systemClock, branchBytes: 4 * MIB },
    limits: { prefetchBytes: 8 * MIB, maxConcurrency: 4, maxBatch: 16 },
  })
  await followed.reaches(head)
  clearInterval(timer)
  const reorgs = followed.events.filter((event) => event.kind === 'reorg')
  assert.deepEqual(
    reorgs.map(({ ancestor, removed }) => [ancestor.number, removed.length]),
    [[COMMON, DEPTH]],
  )
  // Up to the old head; the rest is appended, unless it came with it.
  const [{ added }] = reorgs
  assert.ok(added.length === DEPTH || added.length === DEPTH + 1, `${added.length} blocks`)
  await server.stop()
  compareRows(datadir, other, 'at the end')
  const grown = (most - before) / MIB
  t.diagnostic(`${Math.round(grown)} MiB at most, for ${Math.round((DEPTH * CALLDATA_BYTES) / MIB)} MiB of blocks`)
  assert.ok(grown < 20, `${grown} MiB`)
})
