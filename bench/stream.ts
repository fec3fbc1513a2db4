import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseArgs } from 'node:util'
import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { createReplicatedChain } from '../src/replication/replicatedChain.js'
import { DATABASE_FILE, openForReading } from '../src/store/open.js'
import { openLink, startNatsCluster } from '../test/support/nats/nats.js'
import { describeEnvironment } from './environment.js'
import { openChain, type StoredChain } from './replica/chain.js'
import { growReplica, measureCatchUp } from './replica/phases.js'
import { writtenBytes } from './replica/writtenBytes.js'
import { round } from './table.js'

/* `npm run bench:stream -- --json FILE`: what one block costs on its way to replicas, for `npm run simulate:scale`: reading and encoding it,
 * its bytes in the stream and in the database, publishing it to three NATS servers and consuming it, and what the disk writes. The blocks are
 * those of bench:replica. */

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    accounts: { type: 'string', default: '250000' },
    slots: { type: 'string', default: '500000' },
    blocks: { type: 'string', default: '1000' },
    /** As of `bench:replica`, with the same options. */
    keep: { type: 'string' },
  },
})
const [accounts, slots, blocks] = [values.accounts, values.slots, values.blocks].map(Number)
/** As of `bench:replica`: the files are shared. */
const [TIP, REORG] = [200, 32]
const IN_FLIGHT = 16

const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-stream-'))
const ends: (() => void | Promise<void>)[] = []
try {
  await bench()
} finally {
  for (const end of ends.toReversed()) await end()
  rmSync(directory, { recursive: true, force: true })
}

async function bench(): Promise<void> {
  const environment = describeEnvironment()
  const figures: { [name: string]: unknown } = { ...environment }
  const show = (name: string, value: unknown) => {
    figures[name] = value
    console.log(JSON.stringify({ [name]: value }, (_key, each) => round(each)))
  }
  const chainDirectory = values.keep ?? directory
  mkdirSync(chainDirectory, { recursive: true })
  const chain = await openChain(chainDirectory, { accounts, slots, blocks: blocks + TIP, reorg: REORG })
  const grownPath = join(chainDirectory, 'grown.db')
  if (!existsSync(grownPath)) await growReplica(chain, join(directory, 'grown'), grownPath)
  const datadir = join(directory, 'replica')
  mkdirSync(datadir)
  copyFileSync(grownPath, join(datadir, DATABASE_FILE))

  const [sizeBefore, writtenBefore] = [databaseBytes(datadir), writtenBytes()]
  const applied = await measureCatchUp(chain, datadir, { blocks, isThreaded: true })
  show('apply', {
    ...applied,
    databaseBytesPerBlock: (databaseBytes(datadir) - sizeBefore) / blocks,
    writtenBytesPerBlock: (writtenBytes() - writtenBefore) / blocks,
  })
  show('encode', measureEncoding(datadir, chain))
  show('nats', await measureNats(chain))
  show('disk', measureDisk())
  chain.close()
  if (values.json !== undefined) {
    writeFileSync(values.json, `${JSON.stringify(figures, (_key, each) => round(each), 2)}\n`)
  }
}

function databaseBytes(datadir: string): number {
  const db = openForReading(datadir)
  try {
    const [pages, size] = ['page_count', 'page_size'].map((name) => Number(db.pragma(name, { simple: true })))
    return pages * size
  } finally {
    db.close()
  }
}

/** Processor time of what a writer's publisher reads and encodes, and the size of the message. */
function measureEncoding(datadir: string, chain: StoredChain): object {
  const db = openForReading(datadir)
  const feed = createReplicatedChain(db)
  let [count, bytes] = [0, 0]
  let at = chain.grown
  const { user: before } = process.cpuUsage()
  const startedMs = performance.now()
  while (count < Math.min(blocks, 500)) {
    for (const unit of feed.next([{ number: at, hash: feed.hash(at)! }], undefined)) {
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
async function measureNats(chain: StoredChain): Promise<object> {
  const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) } as TestContext
  const servers = await startNatsCluster(scope)
  const link = await openLink(scope, servers, { streamReplicas: 3 })
  const [name, subject] = ['BENCH', 'bench.block']
  await link.manager.streams.add({
    ...{ name, subjects: [subject], storage: StorageType.File, num_replicas: 3 },
    ...{ retention: RetentionPolicy.Limits, discard: DiscardPolicy.Old },
  })
  const payloads = Array.from({ length: Math.min(blocks, 500) }, (_, i) => chain.read(chain.grown + i).payload)
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
function measureDisk(): object {
  const path = join(directory, 'disk')
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
