import assert from 'node:assert/strict'
import { test } from 'node:test'
import { equalBytes } from '../../../src/lib/bytes.js'
import { silentLogger } from '../../../src/lib/logger.js'
import type { EncodedBlock } from '../../../src/replication/codec/types.js'
import type { NatsLink } from '../../../src/replication/nats/connection.js'
import { createNatsSource } from '../../../src/replication/nats/natsSource.js'
import { createPublisher } from '../../../src/replication/nats/publisher.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import type { ReplicatedChain } from '../../../src/replication/replicatedChain.js'
import { leaderOf, NEEDS_NATS, openLink, startNatsCluster } from '../../support/nats/nats.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { until } from '../../support/until.js'

/* Three servers, a stream of three copies. Blocks have payloads of the size of the design's block, which are not
 * decoded here. */

const BLOCKS = THOROUGH ? 3000 : 250
const PAYLOAD_BYTES = 132_000
const options = { ...NEEDS_NATS, timeout: 600_000 }
const CHAIN = { chainId: 5n, genesisHash: new Uint8Array(32) }

/** Returns a chain that grows by a call of `grow`. */
function createGrowingFeed(): ReplicatedChain & { grow(): void } {
  const random = seededRandom(1801)
  const payload = random.bytes(PAYLOAD_BYTES)
  const hashes: Uint8Array[] = [CHAIN.genesisHash]
  const block = (number: number): EncodedBlock => ({
    ...{ number, hash: hashes[number], parentHash: hashes[number - 1], payload },
  })
  return {
    grow: () => void hashes.push(random.bytes(32)),
    version: () => hashes.length,
    chainId: () => CHAIN.chainId,
    head: () => hashes.length - 1,
    hash: (number) => hashes[number],
    isSparse: () => false,
    stateAt: () => 0,
    stateBounds: () => undefined,
    next: ({ locator: [{ number }] }) =>
      hashes.slice(number + 1, number + 9).map((_, i) => ({ kind: 'blocks', blocks: [block(number + 1 + i)] })),
  }
}

/** The longest time without progress in each phase of the test. */
function createStallClock() {
  let [longestMs, sinceMs] = [0, performance.now()]
  return {
    progress: () => {
      longestMs = Math.max(longestMs, performance.now() - sinceMs)
      sinceMs = performance.now()
    },
    /** Seconds; the next phase begins. */
    take: () => {
      const seconds = (longestMs / 1000).toFixed(1)
      longestMs = 0
      return seconds
    },
  }
}

/** Reads the blocks of a stream as a replica does, and keeps their hashes. */
function startReading(link: NatsLink, signal: AbortSignal) {
  const hashes: Uint8Array[] = [CHAIN.genesisHash]
  const source = createNatsSource({ link, chain: CHAIN, log: silentLogger })
  const times = createStallClock()
  const read = async () => {
    for await (const { unit } of source.units({ locator: [{ number: 0, hash: CHAIN.genesisHash }] }, signal)) {
      if (unit.kind !== 'blocks') continue
      times.progress()
      for (const { number, hash } of unit.blocks) {
        assert.equal(number, hashes.length)
        hashes.push(hash)
      }
    }
  }
  return { hashes, running: read(), times }
}

test(
  'blocks flow through kill -9 of the leader and a frozen leader: each once at every replica',
  options,
  async (t) => {
    const servers = await startNatsCluster(t)
    const more = { streamReplicas: 3 }
    const stop = new AbortController()
    const link = await openLink(t, servers, more)
    const feed = createGrowingFeed()
    const publisher = createPublisher({
      ...{ link, feed, chain: CHAIN, epoch: 1, cursorFile: `${temporaryDirectory(t)}/publisher.json` },
      ...{ log: silentLogger, signal: stop.signal, publishBlocks: 10_000 },
    })
    const publishing = publisher.run()
    await until(() => publisher.status().sequence === 1)
    const readers = await Promise.all(
      [1, 2].map(async () => startReading(await openLink(t, servers, more), stop.signal)),
    )
    const { stream, range } = await openStream(link, CHAIN)
    const observer = await openLink(t, servers, more)
    const leader = async () => {
      const name = await leaderOf(observer, stream)
      return servers.find((server) => server.name === name)!
    }
    let victim = servers[0]
    const published = createStallClock()
    const stalls: string[] = []
    const record = (phase: string) =>
      stalls.push(
        `${phase}: writer ${published.take()}, replicas ${readers.map(({ times }) => times.take()).join(' and ')}`,
      )
    for (let number = 1; number <= BLOCKS; number++) {
      feed.grow()
      if (number === Math.floor(BLOCKS / 4)) {
        record('before')
        victim = await leader()
        await victim.kill()
      }
      if (number === Math.floor(BLOCKS / 2)) await victim.restart()
      if (number === Math.floor((3 * BLOCKS) / 4)) {
        record('kill -9')
        victim = await leader()
        victim.freeze()
      }
      // A block is there when the one before was published: a writer at the head of its chain.
      await until(() => (publisher.status().block ?? 0) >= number)
      published.progress()
    }
    await until(() => readers.every(({ hashes }) => hashes.length > BLOCKS))
    victim.thaw()
    stop.abort(new Error('all came'))
    await Promise.all([publishing, ...readers.map(({ running }) => running)])
    for (const { hashes } of readers) {
      assert.equal(hashes.length, BLOCKS + 1)
      assert.ok(hashes.every((hash, number) => equalBytes(hash, feed.hash(number)!)))
    }
    assert.equal((await range()).last, BLOCKS + 1, 'the epoch and each block once')
    record('frozen')
    t.diagnostic(`${BLOCKS} blocks; longest stall in s: ${stalls.join('; ')}`)
  },
)
