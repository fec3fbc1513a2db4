import { deadlineAfter } from '../lib/deadline.js'
import { Interruption, messageOf } from '../lib/errors.js'
import { formatQuantity } from '../lib/hex.js'
import { yieldToEventLoop } from '../lib/pause.js'
import type { RpcContext } from './core/context.js'
import type { RpcOutcome } from './core/envelope.js'
import type { MethodTable } from './core/method.js'
import { runMethod } from './core/runCall.js'

/* Requests that a thread runs before it accepts any, so that modules are loaded, statements prepared and code
 *  compiled. */

/** Timeout of a warm-up request. */
const LIMIT_MS = 200

// Block counts searched for a log, in this order: a chain with large blocks has some in the last one.
const LOG_SPANS = [1, 16, 256] as const

const ZERO_ADDRESS = `0x${'00'.repeat(20)}`
// A topic that no log has, so that the query over all blocks ends in the index.
const NO_TOPIC = `0x${'ca'.repeat(32)}`

type Ask = (method: string, ...params: unknown[]) => Promise<unknown>

/** Runs a small call and an estimate with the methods' handlers. Never throws: skips what a chain cannot answer. */
export function warmCalls(methods: MethodTable, context: RpcContext): Promise<void> {
  return warm(methods, context, async (ask) => {
    // Own code that uses every opcode table: PUSH1 1, PUSH1 0, MSTORE, RETURN.
    await ask('eth_call', { data: '0x600160005260206000f3' }, 'latest')
    await ask('eth_call', { to: ZERO_ADDRESS, data: '0x00000000' }, 'latest')
    await ask('eth_estimateGas', { from: ZERO_ADDRESS, to: ZERO_ADDRESS }, 'latest')
  })
}

/** Runs log queries over the newest blocks with logs, and one over all blocks without results. Never throws. */
export function warmLogQueries(methods: MethodTable, context: RpcContext): Promise<void> {
  return warm(methods, context, async (ask) => {
    const head = context.chain.head()
    if (head === undefined) return
    for (const span of LOG_SPANS) {
      const range = { fromBlock: formatQuantity(Math.max(0, head - span + 1)), toBlock: 'latest' }
      const logs = (await ask('eth_getLogs', range)) as { address: string; topics: string[] }[] | undefined
      const log = logs?.find(({ topics }) => topics.length > 0)
      if (log === undefined) continue
      const { address, topics } = log
      await ask('eth_getLogs', { ...range, address })
      await ask('eth_getLogs', { ...range, topics: [topics[0]] })
      await ask('eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest', address, topics: [topics[0], NO_TOPIC] })
      return
    }
  })
}

async function warm(methods: MethodTable, context: RpcContext, work: (ask: Ask) => Promise<void>): Promise<void> {
  const ask: Ask = async (name, ...params) => {
    const method = methods.get(name)
    if (method === undefined) return undefined
    await yieldToEventLoop() // on the main thread, requests that have arrived are answered in between
    const limits = { ...context.limits, slowLogsMs: 0 }
    const outcome: RpcOutcome = await runMethod(method, params, {
      ...context,
      limits,
      deadline: deadlineAfter(LIMIT_MS),
    })
    return 'result' in outcome ? JSON.parse(Buffer.from(outcome.result).toString()) : undefined
  }
  try {
    await work(ask)
  } catch (error) {
    if (!(error instanceof Interruption)) context.log.warn({ error: messageOf(error) }, 'could not warm up')
  }
}
