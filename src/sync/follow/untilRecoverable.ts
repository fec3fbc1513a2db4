import { equalBytes } from '../../lib/bytes.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { Clock } from '../../sources/upstreams/clock.js'
import { openForReading } from '../../store/open.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { ReorgBelowFinalized } from '../head/errors.js'
import { NoCommonBlock } from './errors.js'

interface Parts {
  datadir: string
  rpc: EthRpc
  clock: Clock
  signal: AbortSignal
  /** Between two attempts after a failure that can only be probed by an attempt, such as a full disk. */
  retryMs: number
}

// Between two reads of the database, which cost next to nothing.
const LOOK_MS = 500
// Between two requests to the upstream: doubled each time, since nothing changes there soon.
const FIRST_ASK_MS = 1000
const MAX_ASK_MS = 20_000

/** Resolves when following may resume after `error`: the operator rewound the chain, the upstream's chain has the block
 *  in question again, or, for failures of other kinds, after `retryMs`. @throws the reason of the signal */
export async function untilRecoverable(error: unknown, { datadir, rpc, clock, signal, retryMs }: Parts): Promise<void> {
  const disputed = disputedBlock(error)
  if (disputed === undefined) return clock.sleep(retryMs, signal)
  const seen = tryLook(datadir, disputed)
  if (seen === undefined) return clock.sleep(retryMs, signal)
  let askMs = FIRST_ASK_MS
  let askedMs = clock.nowMs()
  for (;;) {
    await clock.sleep(LOOK_MS, signal)
    const now = tryLook(datadir, disputed)
    if (now === undefined) continue
    if (!now.block || !equalBytes(now.head, seen.head)) return
    if (clock.nowMs() - askedMs < askMs) continue
    const header = await rpc.headerByNumber(disputed, signal)
    if (header && equalBytes(header.hash, now.block)) return
    askMs = Math.min(2 * askMs, MAX_ASK_MS)
    askedMs = clock.nowMs()
  }
}

/** Returns the block that differs on the upstream's chain. */
function disputedBlock(error: unknown): number | undefined {
  if (error instanceof ReorgBelowFinalized) return error.finalized
  return error instanceof NoCommonBlock ? error.firstAvailable : undefined
}

interface Seen {
  readonly head: Uint8Array
  readonly block: Uint8Array | undefined
}

/** Returns the hashes of the head and of a block; undefined while the database cannot be read. */
function tryLook(datadir: string, blockNumber: number): Seen | undefined {
  try {
    const db = openForReading(datadir)
    try {
      const reader = createChainReader(db)
      return { head: reader.headHash()!, block: reader.blockHash(blockNumber) }
    } finally {
      db.close()
    }
  } catch {
    return undefined
  }
}
