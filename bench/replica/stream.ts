import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { createReplicatedChain } from '../../src/replication/replicatedChain.js'
import { openForReading } from '../../src/store/open.js'
import { openLink, startNatsCluster } from '../../test/support/nats/nats.js'
import type { StoredChain } from './chain.js'
import type { ReplicaRun } from './options.js'
import { catchUp, openBlocks } from './phases.js'

const IN_FLIGHT = 16
const MOST_BLOCKS = 500

/** Measures what one block costs on its way to replicas, for `npm run simulate:scale`. */
export async function measureStream(run: ReplicaRun) {
  const chain = await run.once(openBlocks)
  const { datadir } = await run.once(catchUp)
  const count = Math.min(run.values.blocks, MOST_BLOCKS)
  return {
    encode: measureEncoding(datadir, chain, count),
    nats: await measureNats(run as unknown as TestContext, chain, count),
    disk: measureDisk(join(run.directory, 'disk')),
  }
}

/** Processor time of what a writer's publisher reads and encodes, and the size of the message. */
function measureEncoding(datadir: string, chain: StoredChain, wanted: number) {
  const db = openForReading(datadir)
  const feed = createReplicatedChain(db)
  let [count, bytes] = [0, 0]
  let at = chain.grown
  const { user: before } = process.cpuUsage()
  const startedMs = performance.now()
  while (count < wanted) {
    for (const unit of feed.next({ locator: [{ number: at, hash: feed.hash(at)! }] }, undefined)) {
      if (unit.kind !== 'blocks') continue
      for (const { number, payload } of unit.blocks) {
        at = number
        count++
        bytes += payload.length
      }
    }
  }
  const cpuMs = (process.cpuUsage().user - before) / 1000
  const ms = performance.now() - startedMs
  db.close()
  return { blocks: count, msPerBlock: ms / count, processorMs: cpuMs / count, messageBytes: bytes / count }
}

/** Messages per second to a stream with three copies, each published with the expected sequence, and from it. */
async function measureNats(scope: TestContext, chain: StoredChain, wanted: number) {
  const servers = await startNatsCluster(scope)
  const link = await openLink(scope, servers, { streamReplicas: 3 })
  const [name, subject] = ['BENCH', 'bench.block']
  await link.manager.streams.add({
    ...{ name, subjects: [subject], storage: StorageType.File, num_replicas: 3 },
    ...{ retention: RetentionPolicy.Limits, discard: DiscardPolicy.Old },
  })
  const payloads = Array.from({ length: wanted }, (_, i) => chain.read(chain.grown + i).payload)
  const publish = async (inFlight: number, offset: number, count: number) => {
    const startedMs = performance.now()
    const under: Promise<unknown>[] = []
    for (let i = 0; i < count; i++) {
      if (under.length >= inFlight) await under.shift()
      const lastSequence = offset + i
      under.push(
        link.publisher.publish(subject, payloads[i], {
          msgID: String(lastSequence),
          expect: { lastSequence },
          timeout: 10_000,
        }),
      )
    }
    await Promise.all(under)
    return performance.now() - startedMs
  }
  const single = Math.min(100, payloads.length)
  const oneByOneMs = await publish(1, 0, single)
  const publishMs = await publish(IN_FLIGHT, single, payloads.length)
  const total = single + payloads.length
  await link.manager.consumers.add(name, { name: 'reader', ack_policy: AckPolicy.None })
  const consumer = await link.publisher.consumers.get(name, 'reader')
  const startedMs = performance.now()
  let received = 0
  for await (const _ of await consumer.consume({ max_messages: 64 })) {
    received++
    if (received === total) break
  }
  const consumeMs = performance.now() - startedMs
  return {
    messageBytes: payloads.reduce((sum, { length }) => sum + length, 0) / payloads.length,
    publishedOneByOnePerSecond: (single * 1000) / oneByOneMs,
    publishedPerSecond: (payloads.length * 1000) / publishMs,
    consumedPerSecond: (total * 1000) / consumeMs,
  }
}

/** Megabytes per second of a file that is written and synced. */
function measureDisk(path: string) {
  const chunk = Buffer.alloc(2 ** 20, 7)
  const startedMs = performance.now()
  const file = openSync(path, 'w')
  for (let i = 0; i < 1024; i++) writeSync(file, chunk)
  fsyncSync(file)
  closeSync(file)
  const ms = performance.now() - startedMs
  rmSync(path)
  return { writtenMb: 1024 * 1.048576, mbPerSecond: (1024 * 1.048576 * 1000) / ms }
}
