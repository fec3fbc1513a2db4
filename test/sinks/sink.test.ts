import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Block } from '../../src/chain/eth/types.js'
import { type ExportSource, openExportSource } from '../../src/export/source.js'
import { formatData } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { noProgress } from '../../src/lib/progress.js'
import { CursorFile } from '../../src/sinks/cursor.js'
import { EventReader } from '../../src/sinks/eventReader.js'
import { parseSinkFilter, type SinkFilter } from '../../src/sinks/filter.js'
import { addedMessages, type SinkMessage } from '../../src/sinks/messages.js'
import { Sink } from '../../src/sinks/sink.js'
import { DeliveryFailed } from '../../src/sinks/webhook.js'
import { replaceBranch } from '../../src/sync/head/reorg.js'
import { importBlocks } from '../../src/sync/pipeline.js'
import { growBranch, LOGGED, LOGGER, openBranches } from '../support/chains/branches.js'
import { sourceOf } from '../support/chains/fixture.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'
import { type Message, Receiver } from './receiver.js'

const ALL: SinkFilter = { blocks: true }

interface Delivered {
  readonly receiver: Receiver
  /** Called before each message. What it throws is the failure of the delivery, or with `lost` after it. */
  before?(message: Message): void
  after?(message: Message): void
}

/** A sink over a database, delivering to a receiver in this process. */
function openSink(
  source: ExportSource,
  {
    datadir,
    delivered,
    filter = ALL,
    from = 1,
    maxEvents = 7,
  }: {
    datadir: string
    delivered: Delivered
    filter?: SinkFilter
    from?: number
    maxEvents?: number
  },
) {
  const stop = new AbortController()
  const sink = new Sink(
    {
      reader: new EventReader(source, filter),
      cursors: new CursorFile(datadir, source.chain.chainId()),
      transport: {
        send: async ({ body }) => {
          const message = JSON.parse(body.toString()) as Message
          delivered.before?.(message)
          delivered.receiver.apply(message)
          delivered.after?.(message)
        },
        close: async () => {},
      },
      chainId: source.chain.chainId(),
      limits: { maxEvents, maxBytes: 600 * maxEvents },
      omitsEmpty: !filter.blocks,
      version: () => source.watch.version(),
      signal: stop.signal,
      log: silentLogger,
    },
    from,
  )
  const ran = Promise.resolve().then(() => sink.run()) // after the caller has it
  const close = async () => {
    stop.abort(new Error('stopped'))
    await ran
    sink.close()
  }
  return { sink, close, kill: () => stop.abort(new Error('killed')), ran }
}

async function openChain(t: TestContext) {
  const datadir = temporaryDirectory(t)
  const { db, chain } = await openBranches(datadir)
  chain.head.finalize({ safe: 0, finalized: 0 })
  const source = openExportSource(datadir)
  t.after(() => {
    source.close()
    db.close()
  })
  return { datadir, chain, source }
}

const hashesOf = (source: ExportSource) =>
  source.rows.links(1, source.chain.head()!).map(({ hash }) => formatData(hash))

/** Checks that the receiver has the chain, and all its logs. */
function assertSame(source: ExportSource, receiver: Receiver): void {
  assert.deepEqual(receiver.hashes(), hashesOf(source))
  const logs = source.rows
    .links(1, source.chain.head()!)
    .flatMap(({ hash, logCount }) =>
      Array.from({ length: logCount }, (_, logIndex) => `${formatData(hash)} ${logIndex}`),
    )
  assert.deepEqual(
    receiver.events().map(({ blockHash, logIndex }) => `${blockHash} ${Number(logIndex)}`),
    logs,
  )
}

/** True if nothing follows the stored cursor. */
const isIdle = (source: ExportSource, datadir: string) =>
  new EventReader(source, ALL).next(new CursorFile(datadir, source.chain.chainId()).read()!) === undefined

test('a receiver has the chain whatever fails, is killed, or is reorganised', async (t) => {
  const random = seededRandom(33)
  const grow = (trunk: readonly Block[], count: number) => growBranch(temporaryDirectory(t), { trunk, count, random })
  const trunk = await grow([], 16)
  const low = await grow(trunk.slice(0, 6), 12)
  const high = await grow(trunk.slice(0, 13), 5)
  const { datadir, chain, source } = await openChain(t)
  await importBlocks(chain, sourceOf(trunk.slice(0, 9)), { progress: noProgress })
  const replace = (ancestor: number, blocks: readonly Block[]) =>
    replaceBranch(
      chain,
      ancestor,
      blocks.map((block) => ({ block })),
    )
  /** What happens to the chain, in order. */
  const changes: (() => Promise<unknown>)[] = [
    () => importBlocks(chain, sourceOf(trunk), { progress: noProgress }),
    () => replace(6, low),
    () => replace(6, trunk.slice(6)),
    () => replace(13, high),
    () => replace(6, low),
  ]
  const receiver = new Receiver()
  let [kills, failures] = [0, 0]
  let open: ReturnType<typeof openSink>
  /** Ends the sink before a message has arrived, or after it, and before the cursor is stored. */
  const kill = () => {
    kills++
    open.kill()
    throw new Error('killed')
  }
  const delivered: Delivered = {
    receiver,
    before: () => {
      if (random.below(5) === 0) kill()
      if (random.below(20) !== 0) return
      failures++
      throw new DeliveryFailed('no answer')
    },
    after: () => void (random.below(4) === 0 && kill()),
  }
  open = openSink(source, { datadir, delivered })
  for (const change of [() => {}, ...changes]) {
    // Several changes while the sink is away, or one while it runs.
    await change()
    if (random.below(3) === 0) continue
    while (!isIdle(source, datadir)) {
      let isOver = false
      void open.ran.then(() => {
        isOver = true
      })
      await until(() => isOver || isIdle(source, datadir))
      if (isOver) open = openSink(source, { datadir, delivered })
    }
    assertSame(source, receiver)
  }
  await open.close()
  const calm = openSink(source, { datadir, delivered: { receiver } })
  await until(() => isIdle(source, datadir))
  await calm.close()
  assertSame(source, receiver)
  assert.ok(kills > 3 && failures > 0 && receiver.repeated > 0, `${kills} ${failures} ${receiver.repeated}`)
})

test('a block that was announced and removed while the sink was away is removed for the receiver', async (t) => {
  const random = seededRandom(34)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 4, random })
  const branch = await growBranch(temporaryDirectory(t), { trunk: trunk.slice(0, 2), count: 3, random })
  const { datadir, chain, source } = await openChain(t)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const receiver = new Receiver()
  const first = openSink(source, {
    datadir,
    delivered: {
      receiver,
      after: () => {
        first.kill()
        throw new Error('killed')
      },
    },
    maxEvents: 1_000,
  })
  await first.ran
  assert.deepEqual([first.sink.status().block, receiver.blocks.length], [0, 4]) // nothing is acknowledged
  await replaceBranch(
    chain,
    2,
    branch.map((block) => ({ block })),
  )
  const second = openSink(source, { datadir, delivered: { receiver }, maxEvents: 1_000 })
  await until(() => isIdle(source, datadir))
  await second.close()
  assertSame(source, receiver)
  assert.equal(receiver.repeated, 2) // the blocks below the branch
})

test('a sink stops when the database does not have the removed blocks any more', async (t) => {
  const random = seededRandom(35)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 3, random })
  const { datadir, chain, source } = await openChain(t)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const cursors = new CursorFile(datadir, source.chain.chainId())
  const place = { number: 2, hash: new Uint8Array(32).fill(7) }
  cursors.write({ sent: place, delivered: place, removal: 0 })
  const receiver = new Receiver()
  const { sink, close } = openSink(source, { datadir, delivered: { receiver } })
  await until(() => sink.status().state === 'alarm')
  assert.match(sink.status().problem!, /remove .*sink-cursor\.json/)
  assert.equal(receiver.messages, 0)
  await close()
  writeFileSync(cursors.path, '{"version":1,"chainId":"7","removal":0}')
  assert.throws(() => openSink(source, { datadir, delivered: { receiver } }), /chain 7, not 20265/)
})

test('a filter selects events by address, topic and name, and omits blocks without them', async (t) => {
  const random = seededRandom(36)
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 8, random })
  const { chain, source } = await openChain(t)
  await importBlocks(chain, sourceOf(trunk), { progress: noProgress })
  const logs = [...source.rows.logs({ from: 0, to: 1_000_000 })]
  const ofLogger = logs.filter(
    ({ address, topics }) => formatData(address) === formatData(LOGGER) && topics[0] !== null,
  )
  const topic = ofLogger[0].topics[1]!
  const hex = (bytes: Uint8Array) => formatData(bytes)
  const cases: [object, typeof logs][] = [
    [{}, logs],
    [{ addresses: hex(LOGGER) }, logs.filter(({ address }) => hex(address) === hex(LOGGER))],
    [
      { topics: [null, [hex(topic)]] },
      logs.filter(({ topics }) => topics[1] !== null && hex(topics[1]) === hex(topic)),
    ],
    [{ topics: [[hex(LOGGED)]] }, ofLogger],
    [{ events: ['Stored(uint256,uint256,uint256)'] }, ofLogger],
    [{ events: ['Transfer'] }, []],
  ]
  for (const [json, expected] of cases) {
    const filter = parseSinkFilter(json, 'filter')
    const reader = new EventReader(source, filter)
    reader.check()
    const change = reader.next(reader.begin(1))
    assert.ok(change?.kind === 'added')
    const messages = [
      ...addedMessages(1, change.blocks, { limits: { maxEvents: 3, maxBytes: 2_000 }, omitsEmpty: true }),
    ]
    const parsed = messages.map(({ body }) => JSON.parse(body.toString()) as Message)
    const events = parsed.flatMap(({ blocks }) => blocks.flatMap((block) => block.events ?? []))
    assert.equal(events.length, expected.length, JSON.stringify(json))
    assert.ok(parsed.every(({ blocks }) => blocks.every((block) => (block.events?.length ?? 0) > 0)))
    assert.ok(messages.every((each: SinkMessage) => each.events <= 3 && each.events > 0))
  }
  assert.ok(ofLogger.length > 3)
  assert.throws(
    () => new EventReader(source, { blocks: false, events: ['Tranfer'] }).check(),
    /no known event.*Transfer/,
  )
  assert.throws(() => parseSinkFilter({ adresses: [] }, 'f'), /unknown member 'adresses'.*addresses/)
  assert.throws(() => parseSinkFilter({ topics: [['0x12']] }, 'f'), /f: topics\[0\]: expected 0x and 64 hex digits/)
})
