import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RecentBlock, StreamPosition, StreamQuery } from '../../../src/export/stream/streamQuery.js'
import { createStreamSource } from '../../../src/export/stream/streamSource.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData } from '../../../src/lib/hex.js'
import { decodeSlice, encodeSlice } from '../../../src/rpc/stream/sliceMessage.js'
import { SliceMemory } from '../../../src/server/stream/sliceMemory.js'
import { SlicesAhead } from '../../../src/server/stream/slicesAhead.js'
import { createCommitWatch } from '../../../src/store/commitWatch.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { TextRow } from '../../support/chains/exportedFiles.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { readLines } from '../../support/streamClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const QUERY: StreamQuery = { format: 'ndjson', blocks: true, logs: [{ topics: [] }], fields: {}, finalizedOnly: false }

test('slices that are read two at a time are those of one chain, whatever blocks are replaced meanwhile', async (t) => {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(61)
  const chain = await openInventedChain(datadir, { random, logsPerBlock: 6 })
  t.after(() => chain.close())
  chain.change(0, 150)
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const source = createStreamSource(db, { chain: createChainReader(db), watch: createCommitWatch(db) })
  const seen = { most: 0, forks: 0, shared: 0, alone: 0 }
  const memory = new SliceMemory()
  let open = 0
  let reorgs = 0
  const replaceSome = (number: number) => {
    if (reorgs === 0 || number < chain.blocks.length - 30 || random.below(2) > 0) return
    reorgs--
    chain.change(random.below(60), random.below(60))
  }
  const read = async (position: StreamPosition) => {
    seen.most = Math.max(seen.most, ++open)
    // In any order, with blocks replaced before, between and after.
    for (let turns = random.below(4); turns > 0; turns--) await turn()
    replaceSome(position.from)
    // Slices of a few blocks, sometimes of fewer than the ones before.
    const maxBytes = random.below(5) === 0 ? 2_000 : 12_000
    // Some do not fit.
    const own = random.below(4) === 0 ? new SharedArrayBuffer(4_000) : memory.take()
    const bytes = encodeSlice(source.read(QUERY, { ...position, maxBytes }, noDeadline), own)
    for (let turns = random.below(4); turns > 0; turns--) await turn()
    open--
    const slice = decodeSlice(bytes, own)
    seen[slice.bytes.buffer === own ? 'shared' : 'alone']++
    return slice
  }
  let [blocks, logs]: TextRow[][] = [[], []]
  /** Reads one response as a client does. Returns where to resume. */
  const readResponse = async (from: number, recent: readonly RecentBlock[]) => {
    const first = await read({ from, recent, isFirst: true })
    let slice = first
    if (!first.isForked) {
      const ahead = new SlicesAhead(read, first, { from, most: 2 })
      for (;;) {
        const { block = [], log = [] } = readLines(Buffer.from(slice.bytes).toString()).rows
        for (const each of block) {
          const before = blocks.at(-1)
          assert.equal(Number(each.block_number), blocks.length)
          assert.ok(before === undefined || before.block_hash === each.parent_hash, `block ${blocks.length}`)
          blocks.push(each)
        }
        logs.push(...log)
        memory.giveBack(slice.bytes)
        replaceSome(slice.nextBlock)
        const next = await ahead.next(slice)
        if (next === undefined) break
        assert.ok(!('code' in next))
        slice = next
        if (slice.isForked) break
      }
    }
    while (open > 0) await turn()
    if (slice.isForked) seen.forks++
    return slice
  }
  for (let run = 0; run < (THOROUGH ? 200 : 20); run++) {
    ;[blocks, logs] = [[], []]
    reorgs = 1 + (run % 3)
    let [from, recent]: [number, readonly RecentBlock[]] = [0, []]
    for (let responses = 0; ; responses++) {
      assert.ok(responses < 20, `resumed at ${from} again and again`)
      const { nextBlock, recent: own, isForked } = await readResponse(from, recent)
      blocks = blocks.slice(0, nextBlock)
      logs = logs.filter((row) => Number(row.block_number) < nextBlock)
      ;[from, recent] = [nextBlock, own]
      if (!isForked && nextBlock === chain.blocks.length && reorgs === 0) {
        const again = await readResponse(from, recent)
        if (!again.isForked) break
        ;[from, recent] = [again.nextBlock, again.recent]
        blocks = blocks.slice(0, from)
        logs = logs.filter((row) => Number(row.block_number) < from)
      }
    }
    const expected = chain.blocks.map(({ block }) => formatData(block.hash))
    assert.deepEqual(
      blocks.map((row) => row.block_hash),
      expected,
    )
    const places = chain.blocks.flatMap(({ receipts }, number) =>
      receipts.flatMap((receipt) => receipt.logs.map(({ data }) => `${number} ${formatData(data)}`)),
    )
    assert.deepEqual(
      logs.map((row) => `${row.block_number} ${row.data}`),
      places,
    )
    if (chain.blocks.length < 100) chain.change(0, 60)
  }
  assert.equal(seen.most, 2)
  assert.ok(seen.forks > 10 && seen.shared > 100 && seen.alone > 100, JSON.stringify(seen))
})
