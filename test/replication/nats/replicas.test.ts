import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { equalBytes } from '../../../src/lib/bytes.js'
import { createStreamAssembler } from '../../../src/replication/nats/assembler.js'
import type { NatsLink } from '../../../src/replication/nats/connection.js'
import { Fenced, StreamAdvanced } from '../../../src/replication/nats/errors.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'
import {
  append,
  openWriterChain,
  startPublisher,
  startReplica,
  type TestWriter,
  untilSameRows,
} from '../../support/nats/publishing.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

const random = seededRandom(1818)

/** Resolves when the replica has the writer's head. */
async function untilSame(replica: { datadir: string }, { chain }: TestWriter): Promise<void> {
  const db = openForReading(replica.datadir)
  try {
    const reader = createChainReader(db)
    await until(() => equalBytes(reader.headHash()!, chain.head.newest!.hash))
  } finally {
    db.close()
  }
}

/** Kinds and numbers of all units in the stream, in order. */
async function unitsIn(link: NatsLink, { described }: TestWriter): Promise<string[]> {
  const stream = await openStream(link, described)
  const { first, last } = await stream.range()
  const assembler = createStreamAssembler({ stream, sequence: first, top: undefined, epoch: undefined })
  const found: string[] = []
  for (let sequence = first; sequence <= last; sequence++) {
    const unit = assembler.take((await stream.message(sequence))!)?.unit
    if (unit?.kind === 'blocks') {
      found.push(`${unit.ancestor ? `${unit.ancestor.number}:` : ''}${unit.blocks.map(({ number }) => number).join()}`)
    } else if (unit !== undefined) found.push(unit.kind === 'epoch' ? `epoch ${unit.epoch}` : unit.kind)
  }
  return found
}

async function open(t: TestContext, count = 12) {
  const server = await startNats(t)
  const link = await openLink(t, [server])
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count, random })
  return { server, link, trunk, writer: await openWriterChain(t) }
}

test('blocks, reorgs, rewinds and finality reach two replicas, row for row', NEEDS_NATS, async (t) => {
  const { link, trunk, writer } = await open(t)
  await append(writer, trunk.slice(0, 4))
  startPublisher(t, writer, { link, epoch: 3 })
  const replicas = await Promise.all([startReplica(t, { link }), startReplica(t, { link })])
  const settled = async (place: string) => {
    for (const replica of replicas) {
      await untilSame(replica, writer)
      await until(() => replica.status().lagBlocks === 0)
      await untilSameRows(replica, writer, place)
    }
  }
  await settled('at the start')
  for (const block of trunk.slice(4)) await append(writer, [block])
  await settled('live blocks')
  let current = trunk
  for (const depth of [1, 5]) {
    const kept = current.slice(0, current.length - depth)
    const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: depth + 1, random })
    await replaceBranch(
      writer.chain,
      kept.length,
      branch.map((block) => ({ block })),
    )
    await settled(`a reorg of ${depth}`)
    current = [...kept, ...branch]
  }
  writer.chain.head.rewind(current.length - 2, { byOperator: true })
  writer.chain.head.commit()
  await settled('a rewind')
  await append(writer, current.slice(-2))
  await settled('the same blocks again')
  writer.chain.head.finalize({ safe: 5, finalized: 4 })
  await until(async () => (await unitsIn(link, writer)).includes('finality'))
  assert.equal(replicas[0].status().epoch, 3)
})

test('a publisher resumes at the end of the stream, and the next one begins with its epoch', NEEDS_NATS, async (t) => {
  const { link, trunk, writer } = await open(t)
  await append(writer, trunk.slice(0, 3))
  const published = (publisher: { status(): { block: number | undefined } }, number: number) =>
    until(() => publisher.status().block === number)
  const first = startPublisher(t, writer, { link, epoch: 1 })
  await published(first, 3)
  await first.end()
  await append(writer, trunk.slice(3, 5))
  const second = startPublisher(t, writer, { link, epoch: 2, applied: 4 })
  await published(second, 5)
  assert.deepEqual(await unitsIn(link, writer), ['epoch 1', '1', '2', '3', 'epoch 2', '4', '5'])
  // Another one takes over: the one before is fenced with its next message.
  const third = startPublisher(t, writer, { link, epoch: 7 })
  await published(third, 5)
  await third.end()
  await append(writer, trunk.slice(5, 6))
  await assert.rejects(second.running, (error) => error instanceof Fenced && error.epoch === 7 && error.sequence === 8)
  await assert.rejects(startPublisher(t, writer, { link, epoch: 6 }).running, Fenced)
  await assert.rejects(startPublisher(t, writer, { link, epoch: 8, applied: 7 }).running, StreamAdvanced)
  const fourth = startPublisher(t, writer, { link, epoch: 8, applied: 8 })
  await published(fourth, 6)
  assert.deepEqual((await unitsIn(link, writer)).slice(-3), ['epoch 7', 'epoch 8', '6'])
})

test('a new stream begins below the head, and one that was deleted is published again', NEEDS_NATS, async (t) => {
  const { link, trunk, writer } = await open(t)
  await append(writer, trunk.slice(0, 9))
  startPublisher(t, writer, { link, epoch: 1, publishBlocks: 6 })
  const behind = await startReplica(t, { link })
  await until(() => behind.status().state === 'alarm')
  assert.match(
    behind.status().problem!,
    /stream CAIRN_20265: expected 1 next, got 3: the blocks between are not available/,
  )
  await behind.end()
  const { stream } = await openStream(link, writer.described)
  await until(async () => (await unitsIn(link, writer)).at(-1) === '9')
  // A replica that has what is below begins after its newest block, which is found in the stream.
  const replica = await startReplica(t, { link }, { datadir: await copyAt(t, trunk.slice(0, 5)) })
  await untilSame(replica, writer)
  const before = (await openStream(link, writer.described)).name
  await link.manager.streams.delete(stream)
  await append(writer, trunk.slice(9, 11))
  await untilSame(replica, writer)
  assert.notEqual((await openStream(link, writer.described)).name, before)
  assert.deepEqual(await unitsIn(link, writer), ['epoch 1', '6', '7', '8', '9', '10', '11'])
  await untilSameRows(replica, writer, 'after the stream was deleted')
})

async function copyAt(t: TestContext, blocks: Parameters<typeof append>[1]): Promise<string> {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  chain.head.finalize({ safe: 0, finalized: 0 })
  await append({ chain }, blocks)
  db.close()
  return datadir
}

test('a lost connection stops nothing for good', NEEDS_NATS, async (t) => {
  const { server, link, trunk, writer } = await open(t)
  await append(writer, trunk.slice(0, 1)) // a publisher without blocks sends finality by itself
  startPublisher(t, writer, { link, epoch: 1 })
  const replica = await startReplica(t, { link: await openLink(t, [server]) })
  for (const [i, block] of trunk.entries()) {
    if (i === 4) await server.kill()
    if (i === 7) await server.restart()
    if (i > 0) await append(writer, [block])
    if (i < 4) await untilSame(replica, writer)
    else await sleep(20)
  }
  await untilSame(replica, writer)
  await untilSameRows(replica, writer, 'after the restart')
  assert.deepEqual(await unitsIn(link, writer), ['epoch 1', ...trunk.map((_, i) => String(i + 1))])
})
