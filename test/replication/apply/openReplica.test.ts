import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { createLocator } from '../../../src/replication/apply/locator.js'
import type { ReplicaParts } from '../../../src/replication/apply/openReplica.js'
import { openReplica } from '../../../src/replication/apply/openReplica.js'
import type { ReplicaSettings } from '../../../src/replication/apply/replicaChain.js'
import type { Verdict } from '../../../src/replication/apply/unitQueue.js'
import { verifyReplicated } from '../../../src/replication/apply/verifyReplicated.js'
import { encodeReplicatedBlock } from '../../../src/replication/codec/message.js'
import type {
  EncodedBlock,
  PositionedUnit,
  ReplicaPlace,
  ReplicationSource,
} from '../../../src/replication/codec/types.js'
import { DatabaseLocked, openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { rewindChain } from '../../../src/sync/rewindChain.js'
import { BRANCHES_GENESIS, growBranch, importInOneGo, openBranches } from '../../support/chains/branches.js'
import { checkDatabase } from '../../support/compare/checkDatabase.js'
import { encodeStored, positioned, readReplicated, scriptedSource, unitOf } from '../../support/nats/replicated.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const BLOCKS = 24
const directory = temporaryDirectory({ after })
let shared: Promise<EncodedBlock[]> | undefined

/** Blocks of a chain, as its writer gives them. */
function writersBlocks(): Promise<EncodedBlock[]> {
  shared ??= (async () => {
    const trunk: Block[] = await growBranch(temporaryDirectory({ after: () => {} }), {
      trunk: [],
      count: BLOCKS,
      random: seededRandom(7),
    })
    await importInOneGo(directory, trunk)
    const db = openForReading(directory)
    const blocks = encodeStored(db, 1, BLOCKS)
    db.close()
    return blocks
  })()
  return shared
}

/** Waits for a change that a running replica makes, looking as often as it can. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate)
}

type StartOptions = Partial<ReplicaParts> & { datadir?: string; settings?: Partial<ReplicaSettings> }

function start(
  t: TestContext,
  units: () => readonly PositionedUnit[],
  { datadir = temporaryDirectory(t), settings, ...parts }: StartOptions = {},
) {
  const stop = new AbortController()
  const source: ReplicationSource = { units: (from, signal) => scriptedSource(units()).units(from, signal) }
  const opening = openReplica(
    { datadir, chain: { genesis: BRANCHES_GENESIS }, ...settings },
    { log: silentLogger, signal: stop.signal, openSource: () => source, ...parts },
  )
  const run = async () => {
    const replica = await opening
    const running = replica.run()
    const end = async () => {
      stop.abort()
      await running
      await replica.close()
    }
    t.after(end)
    return { replica, running, end }
  }
  return { datadir, run }
}

test('a replica applies what its source gives, and is whole when it is closed', async (t) => {
  const blocks = await writersBlocks()
  const units = positioned(blocks.map((block) => unitOf([block])))
  const { datadir, run } = start(t, () => units)
  const { replica, end } = await run()
  await until(() => replica.status().sequence === BLOCKS)
  const { role, state, lagBlocks, problem } = replica.status()
  assert.deepEqual(
    { role, state, lagBlocks, problem },
    { role: 'replica', state: 'following', lagBlocks: 0, problem: null },
  )
  // The trie follows while nothing else is to be done.
  const reader = openForReading(datadir)
  const trie = reader.prepare("SELECT json_extract(value, '$.block.number') FROM meta WHERE key = 'state_trie'").pluck()
  await until(() => trie.get() === BLOCKS)
  reader.close()
  await end()
  assert.deepEqual(checkDatabase(datadir), checkDatabase(directory))
})

test('blocks that another thread verifies are applied in their order', async (t) => {
  const blocks = await writersBlocks()
  const spec = (await openChain(t)).spec
  const waiting: (() => void)[] = []
  // The last answer comes first.
  const verify = (block: EncodedBlock) =>
    new Promise<Verdict>((resolve) => {
      waiting.push(() => resolve({ isRight: true, take: () => verifyReplicated(block, spec) }))
      if (waiting.length === BLOCKS) for (const answer of waiting.reverse()) answer()
    })
  const { run } = start(t, () => positioned(blocks.map((block) => unitOf([block]))), {
    openVerifier: () => ({ verify, close: async () => {} }),
  })
  const { replica } = await run()
  await until(() => replica.status().sequence === BLOCKS)
  assert.equal(replica.status().problem, null)
})

test('a refused block is an alarm; the database is free for a rewind, after which the replica continues', async (t) => {
  const blocks = await writersBlocks()
  const { spec } = await openChain(t)
  const db = openForReading(directory)
  const last = readReplicated(db, BLOCKS)
  db.close()
  const forged = encodeReplicatedBlock({ ...last, totalDifficulty: last.totalDifficulty + 1n })
  assert.notEqual(verifyReplicated(forged, spec), undefined)
  const good = blocks.map((block) => unitOf([block]))
  let given = positioned([...good.slice(0, -1), unitOf([forged])])
  const { datadir, run } = start(t, () => given)
  const { replica, end } = await run()
  await until(() => replica.status().state === 'alarm')
  assert.match(replica.status().problem!, new RegExp(`^block ${BLOCKS} .*total difficulty`))
  given = positioned(good)
  await until(() => isFree(datadir))
  const own = openForWriting(datadir)
  const chain = await openWritableChain(own, undefined, undefined, { lazyTrie: true })
  assert.equal(chain.reader.head(), BLOCKS - 1)
  await rewindChain(chain, BLOCKS - 3, { startProgress: () => noProgress })
  own.close()
  await until(() => replica.status().sequence === BLOCKS)
  assert.equal(replica.status().problem, null)
  await end()
  const { db: taken } = await openBranches(datadir) // a writer brings the trie up to date
  taken.close()
  assert.deepEqual(checkDatabase(datadir), checkDatabase(directory))
})

test('a wrong balance is an alarm that names its block, also when a later block replaced it', async (t) => {
  const blocks = await writersBlocks()
  const db = openForReading(directory)
  const all = blocks.map((_, i) => readReplicated(db, i + 1))
  db.close()
  const keyOf = ({ address }: { address: Uint8Array }) => formatData(address)
  const later = new Set(all.slice(5).flatMap(({ changes }) => changes!.accounts.map(keyOf)))
  const { changes, ...fifth } = all[4]
  const at = changes!.accounts.findIndex((each) => each.account && later.has(keyOf(each)))
  const accounts = changes!.accounts.map((each, i) =>
    i === at ? { ...each, account: { ...each.account!, balance: each.account!.balance + 1n } } : each,
  )
  assert.notEqual(at, -1)
  const forged = encodeReplicatedBlock({ ...fifth, changes: { ...changes!, accounts } })
  const given = positioned(blocks.map((block, i) => unitOf([i === 4 ? forged : block])))
  const { datadir, run } = start(t, () => given)
  const { replica } = await run()
  const isWhole = () => {
    const reader = openForReading(datadir)
    const query = "SELECT json_extract(value, '$.block.number') FROM meta WHERE key = 'state_trie'"
    const number = reader.prepare(query).pluck().get()
    reader.close()
    return number === BLOCKS
  }
  await until(() => replica.status().state === 'alarm' || isWhole())
  assert.match(
    replica.status().problem ?? '',
    /^the state changes of block 5 make the state root .*--to 4' removes it$/,
  )
})

/** A database of the first blocks, as a writer leaves it that has published all but the last three, and called the last
 *  one finalized. */
async function openWritten(t: TestContext) {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random: seededRandom(8) })
  const datadir = temporaryDirectory(t)
  await importInOneGo(datadir, trunk)
  const { db, chain } = await openBranches(datadir)
  chain.head.finalize({ safe: 6, finalized: 6 })
  db.close()
  const published = { number: 3, hash: trunk[2].hash }
  return { datadir, published, head: trunk[5] }
}

test('a standby removes what was not published, finalized blocks too, in one transaction', async (t) => {
  const { datadir, published, head } = await openWritten(t)
  let asked: ReplicaPlace['locator'] = []
  const findPublished: ReplicaParts['findPublished'] = async (_, { position, locator }) => {
    assert.equal(position, undefined)
    asked = locator
    return published
  }
  const reader = openForReading(datadir)
  t.after(() => void reader.close())
  const version = reader.prepare('PRAGMA data_version').pluck()
  const chain = createChainReader(reader)
  const heads = new Set<number>()
  const watch = setInterval(() => {
    version.get()
    heads.add(chain.head()!)
  }, 0)
  const { run } = start(t, () => [], { datadir, findPublished, settings: { role: 'standby', stateMode: 'execute' } })
  const { replica, end } = await run()
  await until(() => chain.head() === 3)
  clearInterval(watch)
  assert.deepEqual([asked[0].number, formatData(asked[0].hash)], [6, formatData(head.hash)])
  assert.ok(
    [...heads].every((number) => number === 6 || number === 3),
    `heads ${[...heads]}`,
  )
  assert.equal(replica.status().role, 'standby')
  assert.equal(replica.status().problem, null)
  await end()
  const { db } = await openBranches(datadir)
  assert.deepEqual(
    db.prepare("SELECT value FROM meta WHERE key = 'finality'").pluck().get(),
    '{"safe":3,"finalized":3}',
  )
  db.close()
  checkDatabase(datadir)
})

test('a replica that was no writer does not go below its finalized block', async (t) => {
  const { datadir, published } = await openWritten(t)
  const { run } = start(t, () => [], { datadir, findPublished: async () => published })
  const { replica } = await run()
  await until(() => replica.status().state === 'alarm')
  assert.match(replica.status().problem!, /begins after block 3 would replace finalized block 6/)
})

test('a replica of a source that ends is over when it has applied everything', async (t) => {
  const blocks = await writersBlocks()
  const units = positioned(blocks.map((block) => unitOf([block])))
  const { datadir, run } = start(t, () => [], {
    settings: { untilEnd: true },
    openSource: () => ({
      units: async function* () {
        yield* units
      },
    }),
  })
  const { replica, running } = await run()
  await running
  assert.equal(replica.status().sequence, BLOCKS)
  await replica.close()
  const reader = openForReading(datadir)
  const trie = reader.prepare("SELECT json_extract(value, '$.block.number') FROM meta WHERE key = 'state_trie'").pluck()
  assert.equal(trie.get(), BLOCKS)
  reader.close()
})

test('a source that fails is asked again', async (t) => {
  const blocks = await writersBlocks()
  const units = positioned(blocks.map((block) => unitOf([block])))
  let attempts = 0
  const { run } = start(t, () => units, {
    clock: { nowMs: () => performance.now(), unixMs: Date.now, sleep: () => new Promise(setImmediate) },
    openSource: () => ({
      units: async function* (from, signal) {
        const source = scriptedSource(units)
        let given = 0
        attempts++
        for await (const each of source.units(from, signal)) {
          yield each
          if (++given === 5) throw new Error('the connection was lost')
        }
      },
    }),
  })
  const { replica } = await run()
  await until(() => replica.status().sequence === BLOCKS)
  assert.equal(attempts, Math.ceil(BLOCKS / 5))
})

test('a locator names the newest block first and the first one last', async (t) => {
  await writersBlocks()
  const db = openForReading(directory)
  t.after(() => db.close())
  const numbers = createLocator(createChainReader(db)).map(({ number }) => number)
  assert.deepEqual(numbers, [24, 23, 21, 17, 9, 0])
  const dense = createLocator(createChainReader(db), 4).map(({ number }) => number)
  assert.deepEqual(dense, [24, 23, 22, 21, 20, 18, 14, 6, 0])
})

async function openChain(t: TestContext) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => void db.close())
  return openWritableChain(db, { genesis: BRANCHES_GENESIS }, 'execute')
}

function isFree(datadir: string): boolean {
  try {
    openForWriting(datadir).close()
    return true
  } catch (error) {
    if (error instanceof DatabaseLocked) return false
    throw error
  }
}
