import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nanos } from '@nats-io/transport-node'
import { StreamMissing, StreamOfOtherChain, StreamReplaced } from '../../../src/replication/nats/errors.js'
import { encodeHead, type MessageHead } from '../../../src/replication/nats/messageHead.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const CHAIN = { chainId: 5n, genesisHash: hash(7) }
const WHOLE = { index: 1, count: 1 }

test('a stream is made by a writer alone, and that of another chain is refused', NEEDS_NATS, async (t) => {
  const link = await openLink(t, [await startNats(t)])
  await assert.rejects(openStream(link, CHAIN), StreamMissing)
  const { name, stream, subject } = await openStream(link, CHAIN, { create: true })
  assert.deepEqual([stream, subject], ['CAIRN_5', 'cairn.5.07070707.block'])
  assert.match(name, /^CAIRN_5@\d{4}-/)
  assert.equal((await openStream(link, CHAIN)).name, name)
  const { config } = await link.manager.streams.info(stream)
  assert.deepEqual(
    [config.deny_delete, config.deny_purge, config.max_age, config.storage, config.num_replicas],
    [true, true, nanos(7 * 86_400_000), 'file', 1],
  )
  await assert.rejects(openStream(link, { chainId: 5n, genesisHash: hash(8) }), StreamOfOtherChain)
})

test('the end says what is published, also within a unit', NEEDS_NATS, async (t) => {
  const link = await openLink(t, [await startNats(t)])
  const stream = await openStream(link, CHAIN, { create: true })
  assert.deepEqual(await stream.end(), {
    sequence: 0,
    epoch: 0,
    head: undefined,
    state: undefined,
    finality: undefined,
    isWhole: true,
  })
  const finality = { safe: 3, finalized: -1 }
  const block = { number: 4, hash: hash(4) }
  const first: MessageHead = {
    ...{ kind: 'block', epoch: 9, block, parentHash: hash(3), part: WHOLE, unit: WHOLE, finality },
    state: { before: 2, after: 4 },
  }
  await link.publisher.publish(stream.subject, Uint8Array.of(1), { headers: encodeHead(first), msgID: 'one' })
  assert.deepEqual(await stream.end(), { sequence: 1, epoch: 9, head: block, state: 4, finality, isWhole: true })
  const before = { number: 4, hash: hash(4) }
  const cut: MessageHead = {
    ...first,
    block: { number: 5, hash: hash(5) },
    unit: { index: 2, count: 3 },
    before,
    state: { before: 4, after: 7 },
  }
  await link.publisher.publish(stream.subject, Uint8Array.of(1), { headers: encodeHead(cut) })
  assert.deepEqual(await stream.end(), {
    sequence: 2,
    epoch: 9,
    head: before,
    state: 4,
    finality: undefined,
    isWhole: false,
  })
  const stored = (await stream.message(1))!
  assert.deepEqual([stored.sequence, stored.id, stored.head().block.number], [1, 'one', 4])
  assert.equal(await stream.message(3), undefined)
  assert.deepEqual(await stream.range(), { first: 1, last: 2 })
  await link.manager.streams.delete(stream.stream)
  await assert.rejects(stream.range(), StreamReplaced)
  await openStream(link, CHAIN, { create: true })
  await assert.rejects(stream.end(), StreamReplaced)
})
