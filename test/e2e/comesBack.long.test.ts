import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import type { Problem } from '../../src/server/admin/problem.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import type { ReplicationStatus } from '../../src/sync/replicationStatus.js'
import { runCairn, spawnCairn, startCairn } from '../support/cairn.js'
import { BRANCHES_GENESIS, growBranch } from '../support/chains/branches.js'
import { growL2 } from '../support/chains/l2Blocks.js'
import { type NatsServer, openLink, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { ask } from '../support/rpcClient.js'
import { allowWrites, mountSmallDisk, refuseWrites, SKIP_SMALL_DISK } from '../support/smallDisk.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { type ForkingUpstream, startForkingUpstream } from '../support/upstream/forkingUpstream.js'
import { nodeBlock, startL2Node } from '../support/upstream/l2Node.js'
import { startSwitchedProxy } from '../support/upstream/switchedProxy.js'

/* Every cause for which a follower stops: it says so in every place, and comes back within a minute of the cause's
 * end. */

/** A follower under test, with a source whose chain grows. */
interface Subject {
  readonly datadir: string
  /** `http://127.0.0.1:PORT` of its server; undefined for `cairn sync`. */
  readonly url?: string
  /** Adds a block to the source. */
  grow(): Promise<void>
  /** Takes the source away, or leads to a wrong one, or back. */
  lead(to: 'right' | 'gone' | 'wrong'): void
  /** The store of the NATS servers has no space left, or has space again. */
  clog?(isFull: boolean): Promise<void>
  /** The source sends the next blocks changed, or not. */
  spoil?(isWrong: boolean): void
  /** True when everything of the source is stored. */
  isWhole(): boolean | Promise<boolean>
}

type Start = (t: TestContext, datadir: string) => Promise<Subject>

interface Cause {
  readonly name: string
  readonly check: RegExp
  readonly skip?: false | string
  readonly applies?: (subject: Subject) => boolean
  begin(subject: Subject): void | Promise<void>
  end(subject: Subject): void | Promise<void>
}

const BLOCKS = THOROUGH ? 400 : 200
const BACK_MS = 60_000

/** Made by the first test that needs it. */
let trunkOfAll: Promise<Block[]> | undefined

function growTrunk(t: TestContext): Promise<Block[]> {
  trunkOfAll ??= growBranch(temporaryDirectory(t), { trunk: [], count: BLOCKS, random: seededRandom(2024) })
  return trunkOfAll
}

/** An upstream of layer 1 with a few blocks, one of another chain, and a proxy that leads to either. */
async function startLayer1(t: TestContext) {
  const trunk = await growTrunk(t)
  let length = 5
  const upstream = await startForkingUpstream(t, trunk.slice(0, length))
  const other = await startForkingUpstream(t, [], { ...BRANCHES_GENESIS, timestamp: '0x7' })
  const proxy = await startSwitchedProxy(t, upstream.url)
  return {
    proxy,
    hash: () => formatData(trunk[length - 1].hash),
    grow: () => {
      length = Math.min(length + 12, BLOCKS)
      return upstream.become(trunk.slice(0, length))
    },
    lead: (to: 'right' | 'gone' | 'wrong') =>
      proxy.lead({ right: upstream.url, gone: undefined, wrong: other.url }[to]),
    spoil: (isWrong: boolean) => spoilRoots(upstream, isWrong),
  }
}

/** Blocks whose extra data is another one: their hash is not that of the head. */
function spoilRoots(upstream: ForkingUpstream, isWrong: boolean): void {
  if (!isWrong) upstream.spoil()
  if (!isWrong) return
  upstream.spoil({
    lacks: ['debug_getRawBlock'],
    result: ({ method }, right) =>
      method.startsWith('eth_getBlockBy') && (right as { number?: string } | null)?.number !== '0x0'
        ? { ...(right as object), stateRoot: `0x${'5'.repeat(64)}` }
        : right,
  })
}

function headOf(datadir: string): string | undefined {
  try {
    const db = openForReading(datadir)
    try {
      const hash = createChainReader(db).headHash()
      return hash && formatData(hash)
    } finally {
      db.close()
    }
  } catch {
    return undefined // it is being made
  }
}

/** Hash of the newest block that a server answers with: cheaper than to open its database again and again. */
async function servedHead(url: string): Promise<string | undefined> {
  const { result } = await ask(url, 'eth_getBlockByNumber', ['latest', false])
  return (result as { hash: string } | null | undefined)?.hash
}

function writeGenesis(t: TestContext): string {
  const path = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(path, JSON.stringify(BRANCHES_GENESIS))
  return path
}

/** True when the newest block of a writer is in its stream. */
async function isPublished(url: string): Promise<boolean> {
  const health = (await (await fetch(`${url}/health`)).json()) as { replication: ReplicationStatus }
  return health.replication.lagBlocks === 0
}

const FILLER = 'FILLER'

/** Fills the storage limit of the servers with a foreign stream. */
async function fillStreams(t: TestContext, nats: NatsServer): Promise<void> {
  const { manager, publisher } = await openLink(t, [nats])
  await manager.streams.add({ name: FILLER, subjects: [FILLER] })
  for (const bytes of [512 * 1024, 64 * 1024, 4096, 256]) {
    const isTaken = () =>
      publisher.publish(FILLER, new Uint8Array(bytes)).then(
        () => true,
        () => false,
      )
    while (await isTaken());
  }
}

async function emptyStreams(t: TestContext, nats: NatsServer): Promise<void> {
  const { manager } = await openLink(t, [nats])
  await manager.streams.delete(FILLER)
}

const SUBJECTS: { [name: string]: Start } = {
  'cairn serve --upstream': async (t, datadir) => {
    const { proxy, hash, ...source } = await startLayer1(t)
    const args = ['--datadir', datadir, '--genesis', writeGenesis(t), '--open', '--metrics', '--log-level', 'silent']
    const { url } = await startCairn(t, [...args, '--upstream', proxy.url])
    return { datadir, url, ...source, isWhole: async () => (await servedHead(url)) === hash() }
  },
  'cairn sync': async (t, datadir) => {
    const { proxy, hash, ...source } = await startLayer1(t)
    const args = ['--datadir', datadir, '--genesis', writeGenesis(t), '--upstream', proxy.url]
    const { child, ended } = spawnCairn(['sync', ...args])
    t.after(async () => {
      child.kill('SIGTERM')
      assert.equal((await ended).code, 0)
    })
    return { datadir, ...source, isWhole: () => headOf(datadir) === hash() }
  },
  'cairn serve --replica': async (t, datadir) => {
    const { proxy: toUpstream, hash, grow } = await startLayer1(t)
    const genesis = ['--genesis', writeGenesis(t)]
    const directory = temporaryDirectory(t)
    const writer = await startCairn(t, [
      ...['--datadir', directory, ...genesis, '--open', '--replication', '--upstream', toUpstream.url],
    ])
    const proxy = await startSwitchedProxy(t, writer.url)
    const args = ['--datadir', datadir, ...genesis, '--open', '--metrics', '--log-level', 'silent']
    const { url } = await startCairn(t, [...args, '--replica', proxy.url])
    return {
      ...{ datadir, url, grow },
      lead: (to) => proxy.lead(to === 'right' ? writer.url : undefined),
      isWhole: async () => (await servedHead(url)) === hash(),
    }
  },
  'cairn serve --publish': async (t, datadir) => {
    const { proxy, hash, grow } = await startLayer1(t)
    const nats = await startNats(t, { maxFile: '24M' })
    const args = ['--datadir', datadir, '--genesis', writeGenesis(t), '--open', '--metrics', '--log-level', 'silent']
    const { url } = await startCairn(t, [...args, '--upstream', proxy.url, '--publish', nats.url])
    return {
      ...{ datadir, url, grow },
      lead: (to) => void (to === 'right' ? nats.restart() : nats.kill()),
      clog: (isFull) => (isFull ? fillStreams(t, nats) : emptyStreams(t, nats)),
      isWhole: async () => (await servedHead(url)) === hash() && (await isPublished(url)),
    }
  },
  'cairn serve --standby': async (t, datadir) => {
    const { proxy, hash, grow } = await startLayer1(t)
    const nats = await startNats(t)
    const common = [
      '--genesis',
      writeGenesis(t),
      '--open',
      '--metrics',
      '--log-level',
      'silent',
      '--upstream',
      proxy.url,
    ]
    await startCairn(t, ['--datadir', temporaryDirectory(t), ...common, '--publish', nats.url])
    const { url } = await startCairn(t, ['--datadir', datadir, ...common, '--replica', nats.url, '--standby'])
    return {
      ...{ datadir, url, grow },
      lead: (to) => void (to === 'right' ? nats.restart() : nats.kill()),
      isWhole: async () => (await servedHead(url)) === hash(),
    }
  },
  'cairn serve --l2-upstream': async (t, datadir) => {
    let chain = growL2([], 5)
    const node = await startL2Node(t, chain)
    const proxy = await startSwitchedProxy(t, node.url)
    const args = ['--datadir', datadir, '--open', '--metrics', '--log-level', 'silent']
    const { url } = await startCairn(t, [...args, '--l2-upstream', proxy.url])
    return {
      ...{ datadir, url },
      grow: async () => {
        const before = chain.length
        chain = growL2(chain, Math.min(12, BLOCKS - before))
        node.become([...node.blocks, ...chain.slice(before).map(nodeBlock)])
      },
      lead: (to) => proxy.lead(to === 'right' ? node.url : undefined),
      isWhole: async () => {
        const { result } = await ask(url, 'starknet_blockHashAndNumber')
        return (result as { block_hash: string } | undefined)?.block_hash === node.blocks.at(-1)!.hash
      },
    }
  },
}

let disk: ReturnType<typeof mountSmallDisk>
const FILES = ['cairn.db', 'cairn.db-wal']

const CAUSES: readonly Cause[] = [
  { name: 'its disk is full', check: /^disk space$/, begin: () => disk.fill(), end: () => disk.free() },
  {
    name: 'its source is gone',
    check: /^(connection|upstream|process|publishing)$/,
    begin: ({ lead }) => lead('gone'),
    end: ({ lead }) => lead('right'),
  },
  {
    name: 'the NATS servers have no space',
    check: /^publishing$/,
    applies: ({ clog }) => clog !== undefined,
    begin: ({ clog }) => clog!(true),
    end: ({ clog }) => clog!(false),
  },
  {
    name: 'its upstream is of another chain',
    check: /^(genesis hash|chain id|common block)$/,
    applies: ({ spoil }) => spoil !== undefined,
    begin: ({ lead }) => lead('wrong'),
    end: ({ lead }) => lead('right'),
  },
  {
    name: 'its upstream sends a block that fails a check',
    check: /^block\.hash$/,
    applies: ({ spoil }) => spoil !== undefined,
    begin: ({ spoil }) => spoil!(true),
    end: ({ spoil }) => spoil!(false),
  },
]

/** What `cairn status --check` says. */
async function readStatus(datadir: string): Promise<{ code: number | null; problem: Problem | null }> {
  const { code, stdout, stderr } = await runCairn(['status', '--datadir', datadir, '--check', '--json'])
  assert.ok(stdout, stderr)
  return { code, problem: (JSON.parse(stdout) as { problem: Problem | null }).problem }
}

/** What the server says, or `cairn status` without one: starting that takes a second. */
async function hasProblem({ datadir, url }: Subject): Promise<boolean> {
  if (url === undefined) return (await readStatus(datadir)).problem !== null
  return ((await (await fetch(`${url}/health`)).json()) as { problem: Problem | null }).problem !== null
}

/** Grows the source until there is a problem: what fits into the space that SQLite has already is still stored. Looks a
 *  few times between two blocks, as what needs no block takes a moment too. */
async function untilProblem(subject: Subject): Promise<void> {
  let looked = 0
  await until(async () => {
    if (looked++ % 4 === 0) await subject.grow()
    return hasProblem(subject)
  })
}

/** Every place names the same problem. */
async function checkSaid({ datadir, url }: Subject, check: RegExp): Promise<void> {
  if (url !== undefined) await checkServer(url, check)
  const { code, problem } = await readStatus(datadir)
  assert.equal(code, 1)
  assert.match(problem?.check ?? '', check)
  assert.ok(problem!.reason.length > 0)
}

async function checkServer(url: string, check: RegExp): Promise<void> {
  const health = (await (await fetch(`${url}/health`)).json()) as { status: string; problem: Problem | null }
  assert.equal(health.status, 'stuck')
  assert.match(health.problem?.check ?? '', check)
  const ready = (await (await fetch(`${url}/ready`)).json()) as { problem: Problem | null }
  assert.match(ready.problem?.check ?? '', check)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  assert.match(metrics, /^cairn_(l2_)?follow_stopped_seconds\{check="[^"]+"\} \d|^cairn_replication_problem 1$/m)
}

/** Checks what every place says until they agree: while it tries again, a process may store a few more blocks in
 *  between. */
async function untilSaid(subject: Subject, check: RegExp): Promise<void> {
  for (const end = performance.now() + 20_000; ; await delay(100)) {
    try {
      return await checkSaid(subject, check)
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || performance.now() >= end) throw error
      await subject.grow()
    }
  }
}

/** Subjects whose follower another one has, with other sources. */
const SIMILAR = ['cairn sync', 'cairn serve --standby']

for (const [name, start] of Object.entries(SUBJECTS)) {
  if (SIMILAR.includes(name) && !THOROUGH) continue
  test(`${name} comes back by itself after every cause that stops it, and says meanwhile what it is`, {
    skip: SKIP_SMALL_DISK,
    timeout: 900_000,
  }, async (t) => {
    disk = mountSmallDisk(t, 64)
    const subject = await start(t, disk.path)
    const { datadir, isWhole } = subject
    await until(isWhole, 120_000)
    for (const cause of CAUSES) {
      if (cause.applies?.(subject) === false) continue
      await t.test(cause.name, async () => {
        await cause.begin(subject)
        await untilProblem(subject)
        await untilSaid(subject, cause.check)
        await cause.end(subject)
        await until(isWhole, BACK_MS)
        await until(async () => !(await hasProblem(subject)), 20_000)
        await until(async () => (await readStatus(datadir)).code === 0, 20_000)
      })
    }
  })
}

test('cairn serve --upstream comes back after its files could not be written', async (t) => {
  const datadir = temporaryDirectory(t)
  const subject = await SUBJECTS['cairn serve --upstream'](t, datadir)
  await until(subject.isWhole, 120_000)
  const files = FILES.map((file) => join(datadir, file))
  if (!refuseWrites(files)) return t.skip('the file system cannot refuse writes')
  t.after(() => allowWrites(files))
  await untilProblem(subject)
  await untilSaid(subject, /^(write access|disk)$/)
  allowWrites(files)
  await until(subject.isWhole, BACK_MS)
  await until(async () => (await readStatus(datadir)).code === 0, 20_000)
})
