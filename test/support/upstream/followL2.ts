import assert from 'node:assert/strict'
import { auditL2 } from '../../../src/audit/l2.js'
import { formatFelt } from '../../../src/chain/starknet/felt.js'
import type { L2NetworkName } from '../../../src/chain/starknet/networks.js'
import { openL2Upstreams } from '../../../src/sources/starknet/l2Upstreams.js'
import type { L2Upstreams } from '../../../src/sources/starknet/types.js'
import type { L2Reader } from '../../../src/store/l2/l2Reader.js'
import { L2Writer } from '../../../src/store/l2/l2Writer.js'
import { L2Follower } from '../../../src/sync/follow/l2/l2Follower.js'
import { describeAvailable } from '../../../src/sync/follow/l2/l2Following.js'
import { createWriteTurns } from '../../../src/sync/follow/l2/writeTurns.js'
import { createFollowFigures, type FollowFigures } from '../../../src/sync/follow/status.js'
import { type L2Database, verifyHere } from '../chains/l2.js'
import { FAST_CLOCK, keepLog, type LogLine } from '../chains/rightChain.js'
import type { L2Node } from './l2Node.js'

type After = { after(callback: () => void | Promise<void>): void }

/** Ways to a node. */
export const L2_ROUTES = ['RPC over HTTP', 'RPC over WebSocket', 'the feeder gateway'] as const
export type L2Route = (typeof L2_ROUTES)[number]

/** A follower of layer 2 that runs in the test's process. */
export interface FollowedL2 {
  readonly figures: FollowFigures
  readonly upstreams: L2Upstreams
  readonly lines: LogLine[]
  /** Resolves when following ends; rejects with what ended it. */
  readonly ended: Promise<void>
  /** Resolves when `isReached` is true; rejects when following ends before. */
  until(isReached: () => boolean): Promise<void>
  /** Resolves when the chain is that of the node. */
  reaches(node: L2Node): Promise<void>
  stop(): Promise<void>
}

interface Options {
  route?: L2Route
  from?: number
  network?: L2NetworkName
  verify?: boolean
}

/** Follows these nodes until the test ends, on a clock that waits a thousandth of the time. */
export function followL2(
  t: After,
  { db, reader }: L2Database,
  nodes: readonly L2Node[],
  options: Options = {},
): FollowedL2 {
  const { route = 'RPC over HTTP', from, network, verify = true } = options
  const { log, lines } = keepLog()
  const addresses = nodes.map(({ url, wsUrl }) => ({ url: route === 'RPC over WebSocket' ? wsUrl : url }))
  const isFeeder = route === 'the feeder gateway'
  const writer = new L2Writer(db, { source: 'upstream' })
  if (network) writer.setNetwork(network)
  const upstreams = openL2Upstreams({
    rpc: isFeeder ? [] : addresses,
    feeders: isFeeder ? addresses : [],
    verify: verify ? verifyHere : undefined,
    expected: () => describeAvailable(reader, writer),
    clock: FAST_CLOCK,
    random: () => 0.5,
    log,
    limits: { requestTimeoutMs: 500, maxResponseBytes: 4 * 2 ** 20 },
  })
  const controller = new AbortController()
  const figures = createFollowFigures()
  const store = { reader, writer, turns: createWriteTurns(db) }
  const follower = new L2Follower(store, upstreams, {
    ...{ signal: controller.signal, log, from, figures, clock: FAST_CLOCK },
  })
  const ended = upstreams.start(controller.signal).then(() => follower.run())
  let isOver = false
  ended.then(
    () => {
      isOver = true
    },
    () => {
      isOver = true
    },
  )
  const until = async (isReached: () => boolean) => {
    while (!isReached()) {
      if (isOver) await ended.then(() => assert.fail('following ended'))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  const stop = async () => {
    controller.abort(new Error('the test ends'))
    upstreams.close()
    await ended.catch(() => {})
  }
  t.after(stop)
  return {
    ...{ figures, upstreams, lines, ended, until, stop },
    reaches: (node) =>
      until(() => isHead(reader, node) && hashesOf(reader).join() === node.blocks.map(({ hash }) => hash).join()),
  }
}

/** True when the newest blocks are the same; cheaper than to compare whole chains. */
function isHead(reader: L2Reader, { blocks }: L2Node): boolean {
  const head = reader.head()
  return head !== undefined && formatFelt(head.hash) === blocks.at(-1)?.hash
}

/** Hashes of the canonical blocks, the lowest first. */
export function hashesOf(reader: L2Reader): string[] {
  const hashes: string[] = []
  for (let block = reader.head(); block; block = reader.atOrBelow(block.number - 1))
    hashes.unshift(formatFelt(block.hash))
  return hashes
}

/** Fails unless the database has the node's chain, as an audit finds it too. */
export function checkL2Chain(database: L2Database, node: L2Node): void {
  checkL2Hashes(database, node)
  auditL2(database.db)
}

/** Fails unless the database has the node's chain by its hashes; an audit recomputes each of them. */
export function checkL2Hashes({ reader }: L2Database, node: L2Node): void {
  assert.deepEqual(
    hashesOf(reader),
    node.blocks.map(({ hash }) => hash),
  )
}
