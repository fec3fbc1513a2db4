import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { type Logger, silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { openReplica } from '../../../src/replication/apply/openReplica.js'
import type { ReplicaChain } from '../../../src/replication/apply/replicaChain.js'
import { encodeFrame, encodeUnit } from '../../../src/replication/http/frames.js'
import { createHttpSource } from '../../../src/replication/http/httpSource.js'
import type { NatsLink } from '../../../src/replication/nats/connection.js'
import { createNatsSource, type NatsSourceOptions } from '../../../src/replication/nats/natsSource.js'
import { createPublisher, type PublisherOptions } from '../../../src/replication/nats/publisher.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import { createReplicatedChain } from '../../../src/replication/replicatedChain.js'
import { openForReading } from '../../../src/store/open.js'
import type { WritableChain } from '../../../src/sync/chainState.js'
import type { BlockRef } from '../../../src/sync/head/events.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { BRANCHES_GENESIS, growBranch, openBranches } from '../chains/branches.js'
import { sourceOf } from '../chains/fixture.js'
import { compareRows } from '../compare/compareChains.js'
import type { SeededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { openLink, startNats } from './nats.js'

/* Writers that publish to NATS and replicas that read from it, in the process of the test. */

/** A writer's database that the test itself writes. */
export interface TestWriter {
  readonly datadir: string
  readonly chain: WritableChain
  readonly described: ReplicaChain
}

/** A writer at the genesis of the branches. */
export async function openWriterChain(t: TestContext): Promise<TestWriter> {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  t.after(() => void db.close())
  chain.head.finalize({ safe: 0, finalized: 0 })
  return { datadir, chain, described: describeBranches(chain) }
}

/** Describes such a chain to sources and publishers. */
export function describeBranches({ reader }: WritableChain): ReplicaChain {
  return { chainId: BigInt(BRANCHES_GENESIS.config.chainId), genesisHash: reader.blockHash(0)! }
}

/** Imports the blocks, as a writer that follows its upstreams. */
export async function append({ chain }: Pick<TestWriter, 'chain'>, blocks: readonly Block[]): Promise<void> {
  await importBlocks(chain, sourceOf(blocks), { progress: noProgress })
}

/** A publisher that runs until it is stopped, or the test ends. */
export function startPublisher(
  t: TestContext,
  { datadir, described }: TestWriter,
  options: Partial<PublisherOptions> & { link: NatsLink; epoch: number },
) {
  const stop = new AbortController()
  const db = openForReading(datadir)
  const publisher = createPublisher({
    feed: createReplicatedChain(db),
    chain: described,
    cursorFile: join(datadir, 'publisher.json'),
    log: silentLogger,
    signal: stop.signal,
    publishBlocks: 10_000,
    ...options,
  })
  const running = publisher.run()
  running.catch(() => {})
  const end = async () => {
    stop.abort(new Error('the test stops the publisher'))
    await running.catch(() => {})
    if (db.open) db.close()
  }
  t.after(end)
  return { status: publisher.status, running, end }
}

/** A replica that reads from NATS until it is stopped, or the test ends. It is begun at the genesis of the branches. */
export async function startReplica(
  t: TestContext,
  options: Omit<NatsSourceOptions, 'chain' | 'log'>,
  { datadir = temporaryDirectory(t), log = silentLogger }: { datadir?: string; log?: Logger } = {},
) {
  const { db } = await openBranches(datadir)
  db.close()
  const stop = new AbortController()
  let problem: string | null = null
  const replica = await openReplica(
    { datadir },
    {
      log,
      signal: stop.signal,
      openSource: (chain) =>
        createNatsSource({
          onProblem: (reported) => {
            problem = reported
          },
          ...options,
          chain,
          log,
        }),
    },
  )
  const running = replica.run()
  const end = async () => {
    stop.abort(new Error('the test stops the replica'))
    await running
    await replica.close()
  }
  t.after(end)
  return { datadir, status: replica.status, problem: () => problem, end }
}

/** Resolves when the databases have the same rows: a replica brings its state trie up to date after the blocks.
 *  @throws AssertionError when they differ for 20 s */
export async function untilSameRows(replica: { datadir: string }, writer: { datadir: string }, place: string) {
  const until = performance.now() + 20_000
  for (;;) {
    try {
      return compareRows(replica.datadir, writer.datadir, place)
    } catch (error) {
      if (performance.now() > until) throw error
    }
    await sleep(20)
  }
}

/** A server, a link to it, a writer whose chain is empty, and 12 blocks for it. */
export async function openPublishing(t: TestContext, random: SeededRandom) {
  const server = await startNats(t)
  const link = await openLink(t, [server])
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 12, random })
  return { server, link, trunk, writer: await openWriterChain(t) }
}

/** `GET /replication` of the writer, over the feed of the product; counts the requests. */
export async function serveChain(t: TestContext, { datadir, described }: TestWriter) {
  const db = openForReading(datadir)
  const feed = createReplicatedChain(db)
  let requests = 0
  const greeting = { format: 1, 'chain-id': String(described.chainId), genesis: formatData(described.genesisHash) }
  const server = createServer((request, response) => {
    requests++
    const locator = new URL(request.url!, 'http://localhost').searchParams.get('locator')!
    let known: BlockRef[] = locator.split(',').map((text) => {
      const [number, hash] = text.split(':')
      return { number: Number(number), hash: parseHex(hash) }
    })
    response.write(encodeFrame(greeting))
    const timer = setInterval(() => {
      for (const unit of feed.next({ locator: known }, undefined)) {
        if (unit.kind !== 'blocks') continue
        for (const frame of encodeUnit(unit)) response.write(frame)
        known = [...[...unit.blocks].reverse(), ...(unit.ancestor ? [unit.ancestor] : known)]
      }
    }, 5)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
    db.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { source: createHttpSource({ url, chain: described }), requests: () => requests }
}

/** Kind or block number of all stored messages, in order. */
export async function messagesIn(
  link: NatsLink,
  { described }: Pick<TestWriter, 'described'>,
): Promise<(string | number)[]> {
  const stream = await openStream(link, described)
  const { first, last } = await stream.range()
  const found: (string | number)[] = []
  for (let sequence = first; sequence <= last; sequence++) {
    const head = (await stream.message(sequence))?.head()
    if (head === undefined) continue // dropped meanwhile
    const { kind, block } = head
    found.push(kind === 'block' ? block.number : kind)
  }
  return found
}
