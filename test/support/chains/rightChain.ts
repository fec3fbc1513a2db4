import { encodeBlock } from '../../../src/chain/eth/block.js'
import { encodeReceipt } from '../../../src/chain/eth/receipt.js'
import { formatData } from '../../../src/lib/hex.js'
import type { Logger } from '../../../src/lib/logger.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import type { EthRpc, EthRpcOptions } from '../../../src/sources/ethRpc/types.js'
import type { RawBlock } from '../../../src/sources/source.js'
import { type Clock, systemClock } from '../../../src/sources/upstreams/clock.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { CHAIN_ID } from './fixtureChain.js'

/** All that matters of a block, as text: its bytes, senders, and receipts. */
export function describeRaw({ block, receipts }: RawBlock): string {
  const senders = block.transactions.map(({ from, hash }) => formatData(hash) + formatData(from))
  const encoded = receipts?.map((receipt) => formatData(encodeReceipt(receipt)))
  return [
    formatData(block.hash),
    block.sizeBytes,
    formatData(encodeBlock(block)),
    ...senders,
    ...(encoded ?? []),
  ].join()
}

/** Blocks of a database, with receipts, by number. */
export function readChain(datadir: string): RawBlock[] {
  const db = openForReading(datadir)
  try {
    const chain = createChainReader(db)
    return Array.from({ length: chain.head()! + 1 }, (_, number) => {
      const stored = chain.blockByNumber(number)!
      const { hash, header, sizeBytes, withdrawals, totalDifficulty } = stored
      const block = {
        hash,
        header,
        sizeBytes,
        withdrawals,
        transactions: chain.transactions(stored),
        uncles: chain.uncles(number),
      }
      return { block, receipts: chain.receipts(stored).map(({ receipt }) => receipt), totalDifficulty }
    })
  } finally {
    db.close()
  }
}

const { unixMs, sleep } = systemClock

/** A clock on which everything waits a thousandth of the time. */
export const FAST_CLOCK: Clock = {
  unixMs,
  nowMs: () => performance.now() * 1000,
  sleep: (ms, signal) => sleep(ms / 1000, signal),
}

/** A clock that stands still until the test lets time pass, so that all upstreams are equally fast. */
export interface StandingClock extends Clock {
  /** Lets so much time pass when the next sleep begins: not while a sleeper's own request is on the way. */
  pass(ms: number): void
}

/** A standing clock. Sleeps end at once. */
export function createStandingClock(): StandingClock {
  let nowMs = 0
  let passingMs = 0
  return {
    unixMs,
    nowMs: () => nowMs,
    sleep: (_ms, signal) => {
      nowMs += passingMs
      passingMs = 0
      return sleep(1, signal)
    },
    pass: (ms) => {
      passingMs += ms
    },
  }
}

/** A line of the log. */
export interface LogLine {
  level: string
  message: string
  fields: Record<string, unknown>
}

/** A logger that keeps its lines. @param onLine is called with each */
export function keepLog(onLine?: (line: LogLine) => void): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string) => (fields: object, message: string) => {
    const line = { level, message, fields: fields as Record<string, unknown> }
    lines.push(line)
    onLine?.(line)
  }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

/** Upstreams of the fixture chain at these addresses. */
export function openFixtureRpc(
  genesisHash: Uint8Array,
  urls: readonly string[],
  options: Pick<EthRpcOptions, 'log' | 'limits' | 'clock' | 'withReceipts' | 'senderRecovery'> & { chainId?: bigint },
): EthRpc {
  return openEthRpc({
    upstreams: urls.map((url) => ({ url })),
    chainId: BigInt(CHAIN_ID),
    genesisHash,
    clock: FAST_CLOCK,
    random: () => 0.5,
    ...options,
    limits: { requestTimeoutMs: 20_000, maxResponseBytes: 2 * 2 ** 20, ...options.limits },
  })
}
