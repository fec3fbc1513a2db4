import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { padLeft } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { replaceBranch } from '../../src/sync/head/reorg.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { matchesFilter } from '../../test/support/compare/matchesFilter.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { eventTopic } from '../../tools/fixture/contracts.js'
import { AT, createTraders } from '../evm/world.js'
import { quantile } from '../lib/client.js'
import type { FullBlock, FullChain, ServedChain } from './fullChain.js'
import { openHeadNotices } from './notices.js'

/** What was measured of reorgs, in milliseconds; medians and the worst. */
export interface ReorgFigures {
  depth: number
  reorgs: number
  /** From the upstream's notice to that of ours, after the commit. */
  noticeMs: { p50: number; max: number }
  /** From the begin of the transaction to its commit. */
  transactionMs: { p50: number; max: number }
  /** Log queries that were sent while a reorg was under way, and in between. */
  queries: { during: QueryFigures; otherwise: QueryFigures }
  /** Answers that were neither those of the old branch nor those of the new one. */
  mixed: number
}

interface QueryFigures {
  count: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const QUERY_EVERY_MS = 10

interface Query {
  atMs: number
  ms: number
  isMixed: boolean
}

/** Replaces one branch by the other at the upstream, `reorgs` times, while our server is asked for logs; `rest`:
 *  milliseconds before each, and after the last. */
export async function measureReorgs(
  { chain, upstream }: ServedChain,
  { directory, reorgs, rest }: { directory: string; reorgs: number; rest: number },
): Promise<ReorgFigures> {
  const { branches } = chain
  const args = ['--datadir', join(directory, 'reorgs'), '--genesis', chain.genesis, '--open', '--log-level', 'info']
  const server = await startDefaultCairn({ after() {} }, [...args, '--upstream', upstream.socketUrl])
  const hashes = branches.map((branch) => formatData(branch.at(-1)!.block.hash))
  while ((await headHash(server.url)) !== hashes[1]) await sleep(50)
  const [theirs, ours] = await Promise.all([upstream, server].map(({ socketUrl }) => openHeadNotices(socketUrl)))
  let ends = false
  const queries: Query[] = []
  const asking = askForLogs(server.url, chain, { queries, isOver: () => ends })
  const spans: [from: number, to: number][] = []
  for (let i = 0; i < reorgs; i++) {
    await sleep(rest)
    const branch = branches[i % 2]
    const beganMs = performance.now()
    await putBranch(chain, branch)
    while (chain.chain.head.workOnIndexes(100));
    const notified = await ours.at(hashes[i % 2])
    spans.push([theirs.firstAfter(beganMs)!, notified])
    process.stderr.write(`\rreorg ${i + 1} of ${reorgs}`)
  }
  process.stderr.write('\n')
  await sleep(rest)
  ends = true
  await asking
  for (const each of [theirs, ours]) each.close()
  const { stderr } = await server.stop()
  await putBranch(chain, branches[1]) // on which the chain grows
  const transactions = Array.from(stderr.matchAll(/"ms":(\d+).*"msg":"reorg"/g), ([, ms]) => Number(ms))
  const isDuring = ({ atMs, ms }: Query) => spans.some(([from, to]) => atMs + ms > from && atMs < to)
  return {
    depth: branches[0].length,
    reorgs,
    noticeMs: spread(spans.map(([from, to]) => to - from)),
    transactionMs: spread(transactions),
    queries: {
      during: describe(queries.filter(isDuring)),
      otherwise: describe(queries.filter((each) => !isDuring(each))),
    },
    mixed: queries.filter(({ isMixed }) => isMixed).length,
  }
}

async function putBranch({ chain, fork }: FullChain, branch: readonly FullBlock[]): Promise<void> {
  await replaceBranch(
    chain,
    fork,
    branch.map(({ block }) => ({ block })),
  )
}

/** Asks again and again, in turn, for the swaps of a trader in the branch, which must be those of one of both branches,
 *  and for all of another trader's. */
async function askForLogs(
  url: string,
  { fork, branches }: FullChain,
  { queries, isOver }: { queries: Query[]; isOver: () => boolean },
): Promise<void> {
  const traders = createTraders().map(({ address }) => padLeft(address, 32))
  const topics = (trader: number) => [eventTopic('Swap(address,uint256,uint256,address)'), traders[trader]]
  const expected = traders.map((_, trader) => branches.map((branch) => keysOf(branch, topics(trader))))
  const pending: Promise<void>[] = []
  for (let n = 0; !isOver(); n++) {
    const trader = n % traders.length
    const isWhole = n % 2 === 1
    const filter = {
      address: formatData(AT.pair),
      topics: topics(trader).map(formatData),
      fromBlock: formatQuantity(isWhole ? 0 : fork + 1),
      toBlock: 'latest',
    }
    const atMs = performance.now()
    pending.push(
      resultOf<{ blockHash: string; logIndex: string }[]>(url, 'eth_getLogs', [filter]).then((logs) => {
        const keys = logs.map(({ blockHash, logIndex }) => `${blockHash} ${logIndex}`).join()
        queries.push({ atMs, ms: performance.now() - atMs, isMixed: !isWhole && !expected[trader].includes(keys) })
      }),
    )
    await sleep(QUERY_EVERY_MS)
  }
  await Promise.all(pending)
}

function keysOf(branch: readonly FullBlock[], topics: Uint8Array[]): string {
  const filter = { fromBlock: 0, toBlock: 0, topics: topics.map((topic) => [topic]) }
  return branch
    .flatMap(({ block, logs }) =>
      logs.flatMap((log, i) => (matchesFilter(log, filter) ? [`${formatData(block.hash)} ${formatQuantity(i)}`] : [])),
    )
    .join()
}

async function headHash(url: string): Promise<string> {
  return (await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])).hash
}

function spread(values: number[]): { p50: number; max: number } {
  return { p50: quantile(values, 0.5), max: quantile(values, 1) }
}

function describe(queries: Query[]): QueryFigures {
  const times = queries.map(({ ms }) => ms)
  const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(times, share))
  return { count: queries.length, p50Ms, p99Ms, maxMs }
}
