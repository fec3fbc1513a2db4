import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadFigures } from '../../bench/replica/reads.js'
import { SKIP_HAPROXY } from '../support/nats/haproxy.js'
import { NEEDS_NATS } from '../support/nats/nats.js'
import { runShortBench } from '../support/shortBench.js'

interface Report {
  catchUp: { blocks: number; databaseBytesPerBlock: number }
  tip: { blocks: number }
  reorg: { depth: number; count: number }
  baseline: { blocks: number }
  stream: { encode: { blocks: number; messageBytes: number }; nats: { messageBytes: number } }
  reads: ReadFigures
  snapshot: { megabytes: number; directory: { restoreMbPerSecond: number } }
}

test('bench:replica: the blocks are applied, one by one too, reorganized, and streamed; snapshots are restored', async (t) => {
  const streamed = NEEDS_NATS.skip === false ? ['stream'] : []
  const { catchUp, tip, reorg, baseline, stream, snapshot } = await runShortBench<Report>(t, 'replica', {
    phases: ['catchUp', 'tip', 'reorg', 'baseline', ...streamed, 'snapshot'],
    args: '--accounts 500 --slots 1000 --blocks 12 --tip 2 --reorg 2 --megabytes 5 --rounds 1',
  })
  assert.deepEqual([catchUp.blocks, tip.blocks, baseline.blocks], [12, 2, 12])
  assert.ok(catchUp.databaseBytesPerBlock > 0)
  assert.deepEqual([reorg.depth, reorg.count], [2, 6])
  assert.ok(snapshot.megabytes >= 5 && snapshot.directory.restoreMbPerSecond > 0)
  await t.test('the encoded blocks are published and consumed', NEEDS_NATS, () => {
    assert.equal(stream.encode.blocks, 14) // with those of the tip
    assert.ok(stream.encode.messageBytes > 1_000 && stream.nats.messageBytes > 1_000)
  })
})

test('bench:replica: every read through HAProxy is answered', { skip: SKIP_HAPROXY }, async (t) => {
  const args = '--seconds 1 --read-blocks 20 --block-ms 200'
  const { reads } = await runShortBench<Report>(t, 'replica', { phases: ['reads'], args })
  assert.equal(reads.runs.length, 7)
  for (const { kind, clients } of reads.runs) {
    assert.deepEqual([clients.failed, clients.least.below], [0, 0], kind)
    assert.ok(clients.answers > 0, kind)
  }
})
