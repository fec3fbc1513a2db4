import { equalBytes } from '../../../src/lib/bytes.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import type { EthRpc, EthRpcOptions } from '../../../src/sources/ethRpc/types.js'
import type { WritableChain } from '../../../src/sync/chainState.js'
import { Follower, type FollowOptions } from '../../../src/sync/follow/follower.js'
import type { HeadEvent } from '../../../src/sync/head/events.js'
import { FAST_CLOCK, keepLog, type LogLine } from '../chains/rightChain.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A follower that runs in the test's process. */
export interface FollowedChain {
  readonly follower: Follower
  readonly rpc: EthRpc
  readonly lines: LogLine[]
  readonly events: HeadEvent[]
  /** Resolves when following ends; rejects with what ended it. */
  readonly ended: Promise<void>
  /** Resolves when the newest block has this hash; rejects when following ends before. */
  reaches(hash: Uint8Array): Promise<void>
  /** Resolves when the finalized block has this number. */
  finalizes(blockNumber: number): Promise<void>
  /** Resolves with the first line of the log that matches. */
  logs(pattern: RegExp): Promise<LogLine>
  /** Resolves when the upstream's head has this number. */
  sees(blockNumber: number): Promise<void>
  stop(): Promise<void>
}

/** Follows these upstreams until the test ends, on a clock that waits a thousandth of the time. */
export function followHere(
  t: After,
  chain: WritableChain,
  urls: readonly string[],
  options: Partial<FollowOptions & EthRpcOptions> = {},
): FollowedChain {
  const waiting = new Set<() => void>()
  const lookAround = () => {
    for (const look of waiting) look()
  }
  const { log, lines } = keepLog(lookAround)
  const rpc = openEthRpc({
    upstreams: urls.map((url) => ({ url })),
    chainId: chain.spec.chainId,
    genesisHash: chain.reader.blockHash(0)!,
    clock: FAST_CLOCK,
    random: () => 0.5,
    log,
    ...options,
    limits: { requestTimeoutMs: 10_000_000, ...options.limits }, // the clock is fast, timeouts are not wanted
  })
  const controller = new AbortController()
  const follower = new Follower(chain, rpc, { log, clock: FAST_CLOCK, ...options, signal: controller.signal })
  const events: HeadEvent[] = []
  chain.head.listen({
    changed: (event) => {
      events.push(event)
      lookAround()
    },
  })
  const until = (isReached: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (isReached()) resolve()
      }
      waiting.add(look)
      look()
      ended.then(() => reject(new Error('following ended')), reject)
    })
  const ended = follower.run()
  ended.catch(() => {})
  const stop = async () => {
    controller.abort(new Error('the test ends'))
    rpc.close()
    await ended.catch(() => {})
  }
  t.after(stop)
  return {
    follower,
    rpc,
    lines,
    events,
    ended,
    stop,
    reaches: (hash) => until(() => chain.head.newest !== undefined && equalBytes(chain.head.newest.hash, hash)),
    logs: async (pattern) => {
      const find = () => lines.find(({ message }) => pattern.test(message))
      await until(() => find() !== undefined)
      return find()!
    },
    sees: async (blockNumber) => {
      while (follower.figures.status().upstreamBlock !== blockNumber) await new Promise((done) => setTimeout(done, 5))
    },
    finalizes: (blockNumber) => until(() => chain.head.finality().finalized === blockNumber),
  }
}
