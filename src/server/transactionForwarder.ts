import { formatData } from '../lib/hex.js'
import type { Logger } from '../lib/logger.js'
import { RpcError, SERVER_BUSY } from '../rpc/core/errors.js'
import { NO_UPSTREAM_ANSWERED } from '../rpc/eth/sendRawTransaction.js'
import { parseUpstreamAddress } from '../sources/upstreams/describeUrl.js'
import { MalformedAnswer, UpstreamError } from '../sources/upstreams/errors.js'
import type { Transport } from '../sources/upstreams/jsonRpc.js'
import { createTransport } from '../sources/upstreams/transport.js'
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamAddress, type UpstreamStatus } from '../sources/upstreams/types.js'

/** Limits of forwarding. */
export interface ForwardingLimits {
  /** Time limit of one request to one upstream. */
  readonly requestTimeoutMs: number
  /** A hash or an error is short. */
  readonly maxResponseBytes: number
  /** Concurrent transactions; others are refused. */
  readonly maxInFlight: number
}

/** The default limits. An upstream that hangs and one that answers fit into the 30 s that most clients wait. */
export const DEFAULT_FORWARDING_LIMITS: ForwardingLimits = {
  requestTimeoutMs: 8_000,
  maxResponseBytes: 64 * 1024,
  maxInFlight: 64,
}

/** Sends signed transactions to upstreams. */
export interface TransactionForwarder {
  /** Returns the transaction's hash, as reported by the first upstream that answers. @throws RpcError with code and
   *  message of that upstream's error, without credentials; -32000 if none answers, -32005 beyond `maxInFlight` */
  forward(transaction: Uint8Array): Promise<string>
  close(): void
}

/** Errors of nodes name balances and costs in wei, and are longer than log messages. */
const MAX_MESSAGE_CHARACTERS = 1000

/** A forwarder to the upstreams in order, healthy ones first; `status` is that of the same upstreams, in the same
 *  order. Upstreams of another chain are left out. Connects on first use. @throws UsageError for an unusable address */
export function createTransactionForwarder(
  addresses: readonly UpstreamAddress[],
  options: { log: Logger; status: () => readonly UpstreamStatus[]; limits?: ForwardingLimits },
): TransactionForwarder {
  const { log, status, limits = DEFAULT_FORWARDING_LIMITS } = options
  const { maxInFlight, ...bounds } = limits
  const transportLimits = { ...DEFAULT_UPSTREAM_LIMITS, ...bounds, maxConcurrency: maxInFlight }
  const upstreams = addresses.map((given) => {
    const address = parseUpstreamAddress(given)
    return { address, transport: createTransport(address, transportLimits, Date.now) }
  })
  let inFlight = 0
  // Clients cannot fill the log: an upstream that keeps failing is logged once.
  const failing = new Set<Transport>()

  const listInOrder = () => {
    const states = status().map(({ state }) => state)
    return upstreams
      .map((upstream, i) => ({ ...upstream, state: states[i] ?? 'ok' }))
      .filter(({ state }) => state !== 'refused')
      .sort((a, b) => Number(a.state !== 'ok') - Number(b.state !== 'ok'))
  }
  const ask = async ({ address, transport }: (typeof upstreams)[number], transaction: string): Promise<string> => {
    const [answer] = await transport.send([{ method: 'eth_sendRawTransaction', params: [transaction] }])
    if ('error' in answer) {
      const { code, message } = answer.error
      throw new RpcError(code, address.redact(message, MAX_MESSAGE_CHARACTERS))
    }
    const { result } = answer
    if (typeof result === 'string' && /^0x[0-9a-f]{64}$/i.test(result)) return result
    throw new MalformedAnswer(address.name, 'eth_sendRawTransaction: expected a hash of 32 bytes')
  }
  const forward = async (transaction: string): Promise<string> => {
    for (const upstream of listInOrder()) {
      const { address, transport } = upstream
      try {
        const hash = await ask(upstream, transaction)
        failing.delete(transport)
        return hash
      } catch (error) {
        if (!(error instanceof UpstreamError)) {
          failing.delete(transport)
          throw error
        }
        const level = failing.has(transport) ? 'debug' : 'warn'
        log[level]({ upstream: address.name, error: error.message }, 'a transaction could not be forwarded')
        failing.add(transport)
      }
    }
    throw new RpcError(NO_UPSTREAM_ANSWERED.code, NO_UPSTREAM_ANSWERED.message)
  }
  return {
    forward: async (transaction) => {
      if (inFlight >= maxInFlight) throw new RpcError(SERVER_BUSY.code, SERVER_BUSY.message)
      inFlight++
      try {
        return await forward(formatData(transaction))
      } finally {
        inFlight--
      }
    },
    close: () => {
      for (const { transport } of upstreams) transport.close()
    },
  }
}
