import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { BlockSource, RawBlock } from '../../../src/sources/source.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { ReorgBelowFinalized, RewindOutOfRange } from '../../../src/sync/head/errors.js'
import type { HeadEvent } from '../../../src/sync/head/events.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { sourceOf } from '../../support/chains/fixture.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const random = seededRandom(77)
const grow = (t: TestContext, trunk: Parameters<typeof growBranch>[1]['trunk'], count: number) =>
  growBranch(temporaryDirectory(t), { trunk, count, random })
const toRaw = (blocks: RawBlock['block'][]) => blocks.map((block) => ({ block }))

async function openChain(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  return { datadir, chain, head: chain.head }
}

/** Events with hashes as text. */
function describe(event: HeadEvent): string {
  if (event.kind === 'finalized') return `finalized ${event.safe} ${event.finalized}`
  const numbers = (refs: readonly { number: number }[]) => refs.map(({ number }) => number).join(' ')
  if (event.kind === 'append') return `append ${numbers(event.blocks)}`
  return `reorg ${event.ancestor.number}: -${numbers(event.removed)} +${numbers(event.added)}`
}

test('each change is reported after its commit, in order and once', async (t) => {
  const { datadir, chain, head } = await openChain(t)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const reader = createChainReader(reading)
  head.finalize({ safe: 0, finalized: 0 })
  const seen: string[] = []
  const end = head.listen({ changed: (event) => void seen.push(`${describe(event)}, readers see ${reader.head()}`) })
  const trunk = await grow(t, [], 4)
  const branch = await grow(t, trunk.slice(0, 2), 3)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  head.finalize({ safe: 2, finalized: 1 })
  head.finalize({ safe: 1, finalized: 0 })
  await replaceBranch(chain, 2, toRaw(branch))
  head.finalize({ safe: 90, finalized: 4 })
  await assert.rejects(replaceBranch(chain, 3, toRaw(trunk.slice(3))), ReorgBelowFinalized)
  head.rewind(3, { byOperator: true })
  head.commit()
  end()
  head.rewind(2, { byOperator: true })
  head.commit()
  assert.deepEqual(seen, [
    'append 1 2 3 4, readers see 4',
    'finalized 2 1, readers see 4',
    'reorg 2: -3 4 +3 4 5, readers see 5',
    'finalized 5 4, readers see 5',
    'reorg 3: -4 5 +, readers see 3',
    'finalized 3 3, readers see 3',
  ])
  assert.deepEqual(head.finality(), { safe: 2, finalized: 2 })
})

test('removed blocks can be read before they are removed, and a refused branch is not reported', async (t) => {
  const { chain, head } = await openChain(t)
  head.finalize({ safe: 0, finalized: 0 })
  const trunk = await grow(t, [], 6)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const read: string[] = []
  const seen: HeadEvent[] = []
  head.listen({
    beforeRemoval: (blocks) => {
      for (const { number, hash } of blocks) {
        const block = chain.reader.blockByNumber(number)!
        assert.equal(formatData(block.hash), formatData(hash))
        read.push(`${number}: ${chain.reader.receipts(block).length} receipts`)
      }
    },
    changed: (event) => void seen.push(event),
  })
  const [first, second] = await grow(t, trunk.slice(0, 4), 2)
  await assert.rejects(replaceBranch(chain, 4, toRaw([first, { ...second, hash: first.hash }])))
  assert.deepEqual(seen, [])
  assert.equal(formatData(head.newest!.hash), formatData(trunk[5].hash))
  assert.deepEqual(
    read,
    [4, 5].map((i) => `${i + 1}: ${trunk[i].transactions.length} receipts`),
  )
})

test('what a listener throws reaches the caller when all were notified, and the change stays', async (t) => {
  const { chain, head } = await openChain(t)
  const seen: string[] = []
  head.listen({
    changed: () => {
      throw new Error('a listener failed')
    },
  })
  head.listen({ changed: (event) => void seen.push(describe(event)) })
  const trunk = await grow(t, [], 2)
  await assert.rejects(importBlocks(chain, sourceOf(trunk), { progress: noProgress }), /a listener failed/)
  assert.deepEqual(seen, ['append 1 2'])
  assert.equal(chain.reader.head(), 2)
})

test('a rewind goes to a stored block, and below the finalized one only by the operator', async (t) => {
  const { chain, head } = await openChain(t)
  await importBlocks(chain, sourceOf(await grow(t, [], 3)), { progress: noProgress })
  assert.deepEqual(head.finality(), { safe: 3, finalized: 3 })
  assert.throws(() => head.rewind(4), RewindOutOfRange)
  assert.throws(() => head.rewind(2), ReorgBelowFinalized)
  head.rewind(2, { byOperator: true })
  head.commit()
  assert.equal(chain.reader.head(), 2)
})

test('blocks that wait for others are committed when none comes', async (t) => {
  const { datadir, chain } = await openChain(t)
  const reading = openForReading(datadir)
  t.after(() => void reading.close())
  const reader = createChainReader(reading)
  const trunk = await grow(t, [], 3)
  const seen: (number | undefined)[] = []
  const source: BlockSource = {
    kind: 'memory',
    path: 'memory',
    async *blocks() {
      for (const block of trunk) {
        // The next block comes only when readers have the one before.
        while (reader.head() !== block.header.number - 1) await new Promise(setImmediate)
        seen.push(reader.head())
        yield { block }
      }
    },
  }
  await importBlocks(chain, source, { progress: noProgress, idleMs: 5 })
  assert.deepEqual(seen, [0, 1, 2])
  assert.equal(reader.head(), 3)
})
