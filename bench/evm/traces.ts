import { encodeTransaction } from '../../src/chain/eth/transaction.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { runMethod } from '../../src/rpc/core/runCall.js'
import { METHODS } from '../../src/rpc/methods.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { startCairn } from '../../test/support/cairn.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { makeCall, openClient } from '../lib/client.js'
import { startAnvilFrom } from './anvilState.js'

/** Traces that are measured, with their configuration. */
export const TRACES: { readonly [name: string]: object } = {
  callTracer: { tracer: 'callTracer' },
  'callTracer with logs': { tracer: 'callTracer', tracerConfig: { withLog: true } },
  prestateTracer: { tracer: 'prestateTracer' },
  'prestateTracer of differences': { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
}

/** Of each trace, before it counts. */
const MOST_WARM_SECONDS = 0.5

/** Names of all traces. */
export const TRACE_NAMES: readonly string[] = Object.keys(TRACES).map((name) => `trace: ${name}`)

/** What was measured of a trace of full blocks. */
export interface TraceFigures {
  name: string
  blocksPerSecond: number
  mgasPerSecond: number
  /** Of one answer, on average. */
  answerBytes: number
  /** Over HTTP with one connection; absent where it was not asked. */
  httpPerSecond?: number
  anvilPerSecond?: number
}

export interface TraceOptions {
  datadir: string
  /** File of the chain's genesis. */
  genesis: string
  seconds: number
  http: boolean
  anvil: boolean
}

/** Traces the blocks of a database again and again: in process, JSON included, then over HTTP, and by an anvil that
 *  executed the same transactions. */
export async function measureTraces(names: readonly string[], options: TraceOptions): Promise<TraceFigures[]> {
  if (names.length === 0) return []
  const figures = await traceInProcess(names, options)
  const own = options.http ? await traceByCairn(names, options) : []
  const theirs = options.anvil ? await traceByAnvil(names, options) : []
  return figures.map((each, i) => ({ ...each, httpPerSecond: own[i], anvilPerSecond: theirs[i] }))
}

async function traceByCairn(names: readonly string[], { datadir, seconds }: TraceOptions): Promise<number[]> {
  const { url, stop } = await startCairn({ after: () => {} }, ['--open', '--datadir', datadir])
  try {
    return await traceOver(url, names, { seconds, warmSeconds: Math.min(MOST_WARM_SECONDS, seconds) })
  } finally {
    await stop()
  }
}

async function traceByAnvil(names: readonly string[], options: TraceOptions): Promise<number[]> {
  const { url, stop } = await startAnvilFrom(options.genesis, ['--gas-limit', '30000000', '--order', 'fifo'])
  try {
    await mineBlocks(url, options.datadir)
    // A block of anvil takes many seconds, since it executes those before a transaction again for each: no warm-up.
    return await traceOver(url, names, { seconds: options.seconds, warmSeconds: 0 })
  } finally {
    await stop()
  }
}

/** Has anvil mine blocks of the same transactions. @throws Error when one takes other gas */
async function mineBlocks(url: string, datadir: string): Promise<void> {
  const db = openForReading(datadir)
  try {
    const chain = createChainReader(db)
    for (let number = 1; number <= chain.head()!; number++) {
      process.stderr.write(`\ranvil: block ${number}\x1b[K`)
      const block = chain.blockByNumber(number)!
      const { baseFeePerGas, timestamp, gasUsed } = block.header
      await resultOf(url, 'anvil_setNextBlockBaseFeePerGas', [formatQuantity(baseFeePerGas!)])
      await resultOf(url, 'evm_setNextBlockTimestamp', [Number(timestamp)])
      for (const transaction of chain.transactions(block)) {
        await resultOf(url, 'eth_sendRawTransaction', [formatData(encodeTransaction(transaction))])
      }
      await resultOf(url, 'evm_mine')
      const mined = await resultOf<{ gasUsed: string }>(url, 'eth_getBlockByNumber', [formatQuantity(number), false])
      if (BigInt(mined.gasUsed) !== gasUsed) throw new Error(`anvil: ${BigInt(mined.gasUsed)} gas in block ${number}`)
    }
  } finally {
    db.close()
  }
}

/** Blocks that a server traces in a second, for each configuration, asked one after another. */
async function traceOver(
  url: string,
  names: readonly string[],
  { seconds, warmSeconds }: { seconds: number; warmSeconds: number },
): Promise<number[]> {
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  const client = openClient(url)
  const rates: number[] = []
  const run = async (config: object, runMs: number) => {
    const begin = performance.now()
    let blocks = 0
    for (; performance.now() - begin < runMs; blocks++) {
      const params = [formatQuantity(1 + (blocks % head)), config]
      const { body } = await client.send(makeCall('debug_traceBlockByNumber', params))
      if (body.subarray(0, 200).includes('"error":{')) throw new Error(body.toString('utf8', 0, 200))
    }
    return (blocks * 1000) / (performance.now() - begin)
  }
  for (const name of names) {
    process.stderr.write(`\r${name} over HTTP\x1b[K`)
    const config = TRACES[name.slice('trace: '.length)]
    await run(config, 1000 * warmSeconds)
    rates.push(await run(config, 1000 * seconds))
  }
  client.close()
  return rates
}

async function traceInProcess(names: readonly string[], { datadir, seconds }: TraceOptions): Promise<TraceFigures[]> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const method = METHODS.get('debug_traceBlockByNumber')!
  const { chain } = context
  const head = chain.head()!
  const run = async (config: object, runMs: number) => {
    const begin = performance.now()
    let [blocks, gas, bytes] = [0, 0n, 0]
    for (; performance.now() - begin < runMs; blocks++) {
      const number = 1 + (blocks % head)
      const outcome = await runMethod(method, [`0x${number.toString(16)}`, config], context)
      if ('error' in outcome) throw new Error(outcome.error.message)
      gas += chain.blockByNumber(number)!.header.gasUsed
      bytes += outcome.result.length
    }
    const elapsed = (performance.now() - begin) / 1000
    return {
      blocksPerSecond: blocks / elapsed,
      mgasPerSecond: Number(gas) / 1e6 / elapsed,
      answerBytes: bytes / blocks,
    }
  }
  try {
    const figures: TraceFigures[] = []
    for (const name of names) {
      process.stderr.write(`\r${name}\x1b[K`)
      const config = TRACES[name.slice('trace: '.length)]
      await run(config, 1000 * Math.min(MOST_WARM_SECONDS, seconds)) // until the code is compiled
      figures.push({ name, ...(await run(config, 1000 * seconds)) })
    }
    return figures
  } finally {
    close()
  }
}
