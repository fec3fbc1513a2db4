import { constants, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { formatData } from '../../src/lib/hex.js'
import { measureTables } from '../../src/store/databaseFacts.js'
import { DATABASE_FILE, openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { type PartSize, sumParts } from '../../src/store/partSizes.js'
import { type CairnServer, startCairn } from '../../test/support/cairn.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { untilBlockNumber } from '../../test/support/until.js'
import { readMemory } from '../lib/memory.js'
import { readThreadsMs } from '../lib/processorTime.js'
import { printTable } from '../lib/table.js'
import { writtenBytes } from '../lib/writtenBytes.js'
import { type CountingProxy, requestsSince, type StateRequests, startCountingProxy } from './countingProxy.js'
import { type HeadNotices, openHeadNotices } from './notices.js'
import type { SyncRun } from './options.js'
import { type BlockSize, CALL_DEPTH, linkedContract, makeSparseNetwork, type SparseNetwork } from './sparseNetwork.js'

/** What following with sparse state takes, beside following with a complete one. */
export interface SparseFigures {
  /** Accounts and slots of the state that the followers began at. */
  readonly accounts: number
  readonly slots: number
  readonly blocks: number
  /** Blocks whose costs are averaged: the first ones and the last ones. */
  readonly window: number
  /** The average block. */
  readonly block: BlockSize
  readonly followers: readonly FollowerFigures[]
  /** Calls of a contract that calls another, and so on, `depth` contracts that nothing used before. */
  readonly depth: number
  readonly calls: readonly {
    readonly name: string
    readonly requests: readonly number[]
    readonly rounds: readonly number[]
  }[]
}

/** The costs of one follower. */
export interface FollowerFigures {
  /** `execute`, `none`, or how sparse state is fetched. */
  readonly name: string
  readonly first: BlockCosts
  readonly last: BlockCosts
  /** Its database after the last block, with the state that it grew with. */
  readonly sizes: readonly PartSize[]
  /** Memory of the server, without mapped pages of files. */
  readonly anonymousMb: number | undefined
}

/** Of the average block. */
export interface BlockCosts {
  /** Of all threads of the server. */
  readonly processorMs: number
  /** Of the thread that follows. */
  readonly ingestMs: number
  readonly diskBytes: number
  /** Passed to write calls. */
  readonly writtenBytes: number
  readonly requests: StateRequests
}

interface Follower {
  readonly name: string
  readonly datadir: string
  readonly server: CairnServer
  readonly proxy: CountingProxy
  readonly notices: HeadNotices
}

const FOLLOWERS = ['execute', 'proofs', 'witness', 'auto']
/** Without state, where `--followers` names it: not the last one, which is asked calls. */
const NONE = 'none'
const CALLS = 10

/** Makes blocks one by one, which servers follow: one with a complete state, the others with sparse state. */
export async function measureSparse(run: SyncRun): Promise<SparseFigures> {
  const { accounts, slots, 'sparse-blocks': blocks, window } = run.values
  if (blocks < 2 * window) throw new Error(`--sparse-blocks: expected at least twice --window, got ${blocks}`)
  const files = { node: join(run.directory, 'sparseNode'), genesis: join(run.directory, 'sparse.json') }
  mkdirSync(files.node)
  const kept = run.values['state-dir'] && join(run.values['state-dir'], `state${accounts}-${slots}.db`)
  const isKept = kept !== undefined && existsSync(kept)
  if (isKept) copyFileSync(kept, join(files.node, DATABASE_FILE), constants.COPYFILE_FICLONE)
  const db = openForWriting(files.node)
  run.after(() => void db.close())
  const network = await makeSparseNetwork(db, {
    ...{ accounts, slots, genesis: files.genesis, blockShare: run.values['block-percent'] / 100 },
  })
  db.pragma('wal_checkpoint(TRUNCATE)')
  if (kept !== undefined && !isKept) keepDatabase(join(files.node, DATABASE_FILE), kept)
  const upstream = await startCairn(run, ['--datadir', files.node, '--open'])
  const complete = join(run.directory, 'execute')
  mkdirSync(complete)
  copyFileSync(join(files.node, DATABASE_FILE), join(complete, DATABASE_FILE))
  const followers: Follower[] = []
  for (const name of run.values.followers?.split(',') ?? FOLLOWERS) {
    const names = [NONE, ...FOLLOWERS]
    if (!names.includes(name)) throw new Error(`--followers: expected some of ${names.join(', ')}, got ${name}`)
    followers.push(await startFollower(run, name, { upstream, genesis: files.genesis }))
  }
  const first = await measureWindow(network, followers, window)
  await follow(network, followers, blocks - 2 * window)
  const last = await measureWindow(network, followers, window)
  const sizes = followers.map(measureFollower)
  const calls = await measureCalls(followers.at(-1)!, upstream)
  return {
    ...{ accounts: network.accounts, slots: network.slots, blocks, window, block: last.size },
    followers: followers.map((follower, i) => ({
      ...{ name: follower.name, first: first.costs[i], last: last.costs[i] },
      ...sizes[i],
    })),
    ...{ depth: CALL_DEPTH, calls },
  }
}

/** Copies a database file; a copy that is not complete has another name. */
function keepDatabase(file: string, kept: string): void {
  mkdirSync(dirname(kept), { recursive: true })
  copyFileSync(file, `${kept}.part`, constants.COPYFILE_FICLONE)
  renameSync(`${kept}.part`, kept)
}

async function startFollower(
  run: SyncRun,
  name: string,
  { upstream, genesis }: { upstream: CairnServer; genesis: string },
): Promise<Follower> {
  const datadir = join(run.directory, name)
  const proxy = await startCountingProxy(upstream.socketUrl)
  run.after(proxy.close)
  const head = Number(await resultOf<string>(upstream.url, 'eth_blockNumber'))
  // The blocks that the state grew with are not of mainnet's size.
  const sparse = name === NONE ? ['--state', 'none'] : ['--state', 'sparse', '--state-fetch', name]
  const state = name === 'execute' ? [] : [...sparse, '--from', String(head)]
  const args = ['--datadir', datadir, '--genesis', genesis, '--open', '--upstream', proxy.url, ...state]
  const server = await startCairn(run, args)
  await untilBlockNumber(server, head)
  const notices = await openHeadNotices(server.socketUrl)
  run.after(notices.close)
  return { name, datadir, server, proxy, notices }
}

/** Grows the network by blocks, one after another, each when all followers have the one before.
 *  @returns the average block */
async function follow(network: SparseNetwork, followers: readonly Follower[], blocks: number): Promise<BlockSize> {
  const sum = { transactions: 0, accounts: 0, slots: 0 }
  for (let i = 0; i < blocks; i++) {
    const { block, size } = await network.grow()
    await Promise.all(followers.map(({ notices }) => notices.at(formatData(block.hash))))
    sum.transactions += size.transactions / blocks
    sum.accounts += size.accounts / blocks
    sum.slots += size.slots / blocks
    process.stderr.write(`\rfollowed ${i + 1} of ${blocks}`)
  }
  process.stderr.write('\n')
  return sum
}

async function measureWindow(network: SparseNetwork, followers: readonly Follower[], blocks: number) {
  const before = followers.map(readTotals)
  const size = await follow(network, followers, blocks)
  const costs = followers.map((follower, i): BlockCosts => {
    const [from, to] = [before[i], readTotals(follower)]
    const threads = Array.from(to.threads, ([thread, ms]) => (ms - (from.threads.get(thread) ?? 0)) / blocks)
    const requests = Object.entries(requestsSince(from.requests, to.requests))
    return {
      processorMs: threads.reduce((sum, ms) => sum + ms, 0),
      ingestMs: Math.max(...threads),
      diskBytes: (to.diskBytes - from.diskBytes) / blocks,
      writtenBytes: (to.writtenBytes - from.writtenBytes) / blocks,
      requests: Object.fromEntries(requests.map(([name, n]) => [name, n / blocks])) as unknown as StateRequests,
    }
  })
  return { size, costs }
}

function readTotals({ datadir, server, proxy }: Follower) {
  const { counts: requests } = proxy
  const pid = server.running.child.pid!
  const [diskBytes, written] = [databaseBytes(datadir), writtenBytes(pid)]
  return { threads: readThreadsMs(pid), diskBytes, writtenBytes: written, requests }
}

function databaseBytes(datadir: string): number {
  const db = openForReading(datadir)
  try {
    const names = ['page_count', 'freelist_count', 'page_size']
    const [pages, free, size] = names.map((name) => Number(db.pragma(name, { simple: true })))
    return (pages - free) * size
  } finally {
    db.close()
  }
}

/** Returns how large the parts of its database are, and its memory. */
function measureFollower({ datadir, server }: Follower): Pick<FollowerFigures, 'sizes' | 'anonymousMb'> {
  const db = openForReading(datadir)
  try {
    const sizes = sumParts(db, measureTables(db))
    return { sizes, anonymousMb: readMemory(server.running.child.pid!)?.anonymousMb }
  } finally {
    db.close()
  }
}

/** Requests to the upstream, and round trips, of ten equal calls, with hints and without.
 *  @throws Error when an answer is not the upstream's */
async function measureCalls({ server, proxy }: Follower, upstream: CairnServer) {
  const measure = async (name: string, chain: number) => {
    const params = [{ to: formatData(linkedContract(chain)) }, 'latest']
    const expected = await resultOf<string>(upstream.url, 'eth_call', params)
    const requests: number[] = []
    const rounds: number[] = []
    for (let i = 0; i < CALLS; i++) {
      const before = proxy.counts
      const answer = await resultOf<string>(server.url, 'eth_call', params)
      if (answer !== expected) throw new Error(`eth_call: expected ${expected}, got ${answer}`)
      const since = requestsSince(before, proxy.counts)
      requests.push(since.messages)
      rounds.push(since.rounds)
    }
    return { name, requests, rounds }
  }
  const withHints = await measure('with hints', 0)
  proxy.refuseHints()
  return [withHints, await measure('without hints', 1)]
}

/** Prints the figures as tables. */
export function printSparse({ block, followers, calls }: SparseFigures): void {
  console.log(`blocks of ${block.transactions} transactions, ${block.accounts} accounts, ${block.slots} slots`)
  const [{ first: full, last: fullLast }] = followers // the complete one, or what stands for it
  const row = (name: string, costs: BlockCosts, complete: BlockCosts) => [
    ...[name, costs.requests.messages, costs.requests.proofs, costs.requests.witnesses, costs.requests.codes],
    ...[costs.requests.accounts, costs.requests.slots, costs.requests.answerBytes / 1000],
    ...[
      costs.processorMs,
      costs.processorMs / complete.processorMs,
      costs.ingestMs,
      costs.ingestMs / complete.ingestMs,
    ],
    costs.diskBytes / 1000,
    costs.writtenBytes / 1000,
  ]
  printTable(
    [
      ...['follower', 'requests a block', 'proofs', 'witnesses', 'codes', 'accounts', 'slots', 'kB'],
      ...['CPU ms', 'times a complete one', 'of the thread ms', 'times a complete one', 'kB on disk', 'kB written'],
    ],
    followers.flatMap(({ name, first, last }) => [
      row(`${name}, first blocks`, first, full),
      row(`${name}, last blocks`, last, fullLast),
    ]),
  )
  printTable(
    ['call of an unknown contract', 'requests of the first', 'round trips', 'requests of the tenth'],
    calls.map(({ name, requests, rounds }) => [name, requests[0], rounds[0], requests.at(-1)]),
  )
}
