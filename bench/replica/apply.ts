import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { formatData } from '../../src/lib/hex.js'
import { type Logger, silentLogger } from '../../src/lib/logger.js'
import { type OpenReplica, openReplica } from '../../src/replication/apply/openReplica.js'
import type {
  EncodedBlock,
  PositionedUnit,
  ReplicationSource,
  ReplicationUnit,
} from '../../src/replication/codec/types.js'
import { createBlockVerifier } from '../../src/replication/threads/blockVerifier.js'
import { TrieHasherHandle } from '../../src/replication/threads/trieHasher.js'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStateTrieTable } from '../../src/store/state/stateTrieTable.js'
import { TRIE_HISTORY_BLOCKS } from '../../src/store/state/trieHistory.js'
import { TrieLayers } from '../../src/store/state/trieLayers.js'
import { Checkpointer } from '../../src/workers/checkpointer.js'
import { quantile } from '../lib/client.js'
import { readThreadsMs } from '../lib/processorTime.js'
import { writtenBytes } from '../lib/writtenBytes.js'
import type { StoredChain } from './chain.js'
import type { ReaderReply } from './readerThread.js'

// A warning, such as a thread that failed, makes the figures those of something else.
const benchLogger: Logger = { ...silentLogger, warn: refuse, error: refuse }

function refuse(fields: object, message: string): never {
  throw new Error(`${message}: ${JSON.stringify(fields)}`)
}

interface HowToApply {
  /** Default: that of the product. */
  trieInterval?: number
  /** Verify in another thread, and make checkpoints in one. */
  isThreaded: boolean
}

/** Fills a new database with the blocks that make the state, and copies it to `path`. Their changes are hashed
 *  together, and all of the trie is in its pages, as in the database of a replica at work: layers of these blocks would
 *  be fifteen times as large as those of measured ones. */
export async function growReplica(chain: StoredChain, datadir: string, path: string): Promise<void> {
  const replica = await startReplica(chain, datadir, { trieInterval: 1_000_000, isThreaded: true })
  let last = 0
  for (let number = 1; number <= chain.grown; number++) last = replica.give(() => blockUnit(chain, number))
  await replica.reach(last)
  await untilTrie(datadir, chain.grown)
  await replica.close()
  const db = openForWriting(datadir)
  try {
    db.transaction(() => TrieLayers.of(db).flushAll())()
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  copyFileSync(join(datadir, DATABASE_FILE), path)
}

/** Blocks per second and processor time of the process, and of each of its threads above a percent, for blocks that
 *  wait, until the state root of the last one was compared. */
export async function applyWaiting(
  chain: StoredChain,
  datadir: string,
  { blocks, ...how }: HowToApply & { blocks: number },
) {
  const replica = await startReplica(chain, datadir, how)
  const cpu = process.cpuUsage()
  const threads = readThreadsMs(process.pid)
  const [sizeBefore, writtenBefore] = [databaseBytes(datadir), writtenBytes()]
  const startedMs = performance.now()
  let last = 0
  for (let i = 1; i <= blocks; i++) last = replica.give(() => blockUnit(chain, chain.grown + i))
  await replica.reach(last)
  const committedMs = performance.now() - startedMs
  await untilTrie(datadir, chain.grown + blocks)
  const ms = performance.now() - startedMs
  const { user, system } = process.cpuUsage(cpu)
  const processorMs = (user + system) / 1000 / blocks
  const threadsMs = Array.from(readThreadsMs(process.pid), ([id, ms]) => (ms - (threads.get(id) ?? 0)) / blocks)
  await replica.close()
  return {
    ...{ ...how, blocks, blocksPerSecond: (blocks * 1000) / ms, committedPerSecond: (blocks * 1000) / committedMs },
    processorMs,
    threadsMs: threadsMs.filter((each) => each > processorMs / 100).sort((a, b) => b - a),
    databaseBytesPerBlock: (databaseBytes(datadir) - sizeBefore) / blocks,
    writtenBytesPerBlock: (writtenBytes() - writtenBefore) / blocks,
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

/** Resolves when the stored trie is that of the block. */
async function untilTrie(datadir: string, number: number): Promise<void> {
  const db = openForReading(datadir)
  const table = createStateTrieTable(db)
  while (table.head()?.block?.number !== number) await sleep(20) // it shares the thread of the writer
  db.close()
}

/** Resolves when the tries of the last `blocks` blocks can be read. */
async function untilTrieHistory(datadir: string, blocks: number): Promise<void> {
  const db = openForReading(datadir)
  const table = createStateTrieTable(db)
  const isComplete = () => {
    const { history } = table.head() ?? {}
    return history !== undefined && history.head - history.from >= blocks
  }
  while (!isComplete()) await sleep(5)
  db.close()
}

// Between two blocks at the tip: the trie has followed.
const TIP_MS = 500

/** Milliseconds from a unit that comes until a reader in another thread sees its block, and until it has read the block
 *  with transactions and receipts, for blocks that come one by one. */
export async function applyOneByOne(chain: StoredChain, datadir: string, { from, to }: { from: number; to: number }) {
  const reader = startReader(datadir)
  const replica = await startReplica(chain, datadir, { isThreaded: true })
  // As many as are kept, or as have been applied.
  await untilTrieHistory(datadir, Math.min(TRIE_HISTORY_BLOCKS, from - 1 - chain.grown))
  const writtenBefore = writtenBytes()
  const visible: number[] = []
  const lags: number[] = []
  for (let number = from; number <= to; number++) {
    const unit = blockUnit(chain, number)
    await sleep(TIP_MS)
    const atMs = now()
    replica.give(() => unit)
    const { seenMs, atMs: readMs } = await reader.saw(chain.read(number - 1))
    visible.push(seenMs - atMs)
    lags.push(readMs - atMs)
  }
  await replica.close()
  await reader.close()
  const writtenPerBlock = (writtenBytes() - writtenBefore) / lags.length
  const [warmVisible, warm] = [visible, lags].map((each) => each.slice(each.length >> 2))
  return {
    ...{ blocks: warm.length, writtenBytesPerBlock: writtenPerBlock },
    ...{ visibleP50Ms: quantile(warmVisible, 0.5), visibleP99Ms: quantile(warmVisible, 0.99) },
    ...{ p50Ms: quantile(warm, 0.5), p99Ms: quantile(warm, 0.99), maxMs: quantile(warm, 1) },
  }
}

const now = () => performance.timeOrigin + performance.now()

/** A thread that reads new blocks of the database. */
function startReader(datadir: string) {
  const thread = new Worker(new URL('./readerThread.js', import.meta.url), { workerData: datadir })
  const seen = new Map<string, ReaderReply>()
  thread.on('message', (reply: ReaderReply) => void seen.set(reply.hash, reply))
  return {
    /** When it saw and had read the block: milliseconds since 1970. */
    saw: async ({ hash }: EncodedBlock): Promise<ReaderReply> => {
      const key = formatData(hash)
      while (!seen.has(key)) await sleep(1)
      const reply = seen.get(key)!
      seen.delete(key)
      return reply
    },
    close: async () => void (await thread.terminate()),
  }
}

/** Milliseconds of reorgs between two branches, from the unit that comes until a reader in another thread has read the
 *  last block of the other branch. */
export async function applyReorgs(chain: StoredChain, datadir: string, count: number) {
  const { head, branch } = chain
  const replica = await startReplica(chain, datadir, { isThreaded: true })
  const ancestor = { number: head - branch, hash: chain.read(head - branch - 1).hash }
  const own = Array.from({ length: branch }, (_, i) => chain.read(head - branch + i))
  const other = Array.from({ length: branch }, (_, i) => chain.read(head + i))
  const reader = startReader(datadir)
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    await untilTrie(datadir, head)
    await sleep(500)
    const unit: ReplicationUnit = {
      kind: 'blocks',
      ancestor,
      blocks: i % 2 === 0 ? other : own,
      finality: NOTHING_FINAL,
    }
    const atMs = now()
    replica.give(() => unit)
    times.push((await reader.saw(unit.blocks.at(-1)!)).atMs - atMs)
  }
  await replica.close()
  await reader.close()
  return { depth: branch, count, p50Ms: quantile(times, 0.5), maxMs: quantile(times, 1) }
}

const NOTHING_FINAL = { safe: 0, finalized: 0 }

function blockUnit(chain: StoredChain, number: number): ReplicationUnit {
  return { kind: 'blocks', blocks: [chain.read(number - 1)], finality: NOTHING_FINAL }
}

async function startReplica(chain: StoredChain, datadir: string, { trieInterval, isThreaded }: HowToApply) {
  const stop = new AbortController()
  const waiting: (() => ReplicationUnit)[] = []
  let sequence = 0
  let given = 0
  let wake = () => {}
  const source: ReplicationSource = {
    units: async function* ({ position }, signal): AsyncGenerator<PositionedUnit> {
      sequence = position?.sequence ?? 0
      given = sequence
      while (!signal.aborted) {
        const read = waiting.shift()
        if (read) yield { unit: read(), position: { stream: 'bench', sequence: ++sequence, epoch: 1 } }
        else
          await new Promise<void>((resolve) => {
            wake = resolve
            signal.onabort = () => resolve()
          })
      }
    },
  }
  const checkpoints = isThreaded ? new Checkpointer(datadir) : undefined
  const replica: OpenReplica = await openReplica(
    { datadir, chain: { genesis: chain.genesis }, trieInterval },
    {
      log: benchLogger,
      signal: stop.signal,
      checkpoints,
      openSource: () => source,
      openVerifier: isThreaded ? createBlockVerifier : undefined,
      openHasher: isThreaded ? (data) => new TrieHasherHandle(data) : undefined,
      recovers: () => false,
    },
  )
  const running = replica.run()
  let failure: unknown
  running.catch((error: unknown) => {
    failure = error
  })
  await sleep(300)
  const reach = async (wanted: number) => {
    while (replica.status().sequence < wanted) {
      if (failure) throw failure
      await sleep(1)
    }
  }
  return {
    /** Gives a unit, which is read when its turn comes. @returns its sequence */
    give: (read: () => ReplicationUnit): number => {
      waiting.push(read)
      wake()
      return ++given
    },
    /** Resolves when the unit and all before it are committed. */
    reach,
    close: async () => {
      stop.abort()
      await running
      await replica.close()
      await checkpoints?.close()
    },
  }
}
