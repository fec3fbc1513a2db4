import { encodeFelt } from '../../chain/starknet/felt.js'
import { isPendingStatus } from '../../chain/starknet/types.js'
import { UpstreamRpcError } from '../upstreams/errors.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checkedL2, readFetched, readRef } from './checkedL2.js'
import { FEEDER_NOT_FOUND } from './feederTransport.js'
import { readConfirmed, readStatus } from './rpcDialect.js'
import type { L2Dialect } from './types.js'

/* The feeder gateway of Starkware, and nodes that offer its interface. */

/** Asks feeder gateways. */
export const FEEDER_DIALECT: L2Dialect = {
  // The gateway does not report it: transaction hashes and block hashes do.
  chainId: async () => undefined,
  head: async (upstream, signal) => {
    const query = { blockNumber: 'latest', headerOnly: true }
    const json = await upstream.call('get_block', [query], signal)
    const { number, hash } = checkedL2(upstream, undefined, () => readRef(json, 'get_block'))
    return { number, hash: encodeFelt(hash) }
  },
  blocks: (upstream, numbers, signal) => Promise.all(numbers.map((number) => askBlock(upstream, number, signal))),
  withStateDiff: (upstream, { block }, signal) => askWithStateUpdate(upstream, block.number!, signal),
  isComplete: () => true,
  status: async (upstream, number, signal) => {
    const json = await ask(upstream, 'get_block', { blockNumber: number }, signal)
    return json === undefined ? undefined : readStatus(upstream, json, number)
  },
  acceptedOnL1: async () => undefined,
  pending: async (upstream, parent, signal) => {
    // `get_preconfirmed_block` was added in 0.14; the block has neither its number nor its parent.
    const preconfirmed = await askUnconfirmed(upstream, 'get_preconfirmed_block', { blockNumber: parent + 1 }, signal)
    if (preconfirmed) return { ...preconfirmed, block: { ...preconfirmed.block, number: parent + 1 } }
    return askUnconfirmed(upstream, 'get_block', { blockNumber: 'pending' }, signal)
  },
}

/** Fetches the block with its state update by one request; without it from a gateway that lacks it. */
async function askBlock(upstream: Upstream, number: number, signal: AbortSignal | undefined) {
  if (upstream.features.has('state updates')) {
    try {
      const fetched = await askWithStateUpdate(upstream, number, signal)
      if (fetched) return fetched
    } catch (error) {
      if (!(error instanceof UpstreamRpcError)) throw error
      upstream.features.lacks('state updates')
    }
  }
  return readConfirmed(upstream, await ask(upstream, 'get_block', { blockNumber: number }, signal), number)
}

async function askWithStateUpdate(upstream: Upstream, number: number, signal: AbortSignal | undefined) {
  const json = await ask(upstream, 'get_state_update', { blockNumber: number, includeBlock: true }, signal)
  return readConfirmed(upstream, json, number)
}

/** Returns the result; undefined for a block that the gateway does not have. @throws UpstreamRpcError */
async function ask(
  upstream: Upstream,
  method: string,
  query: object,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    return await upstream.call(method, [query], signal)
  } catch (error) {
    if (error instanceof UpstreamRpcError && error.code === FEEDER_NOT_FOUND) return undefined
    throw error
  }
}

async function askUnconfirmed(upstream: Upstream, method: string, query: object, signal: AbortSignal | undefined) {
  try {
    const fetched = readFetched(upstream, await upstream.call(method, [query], signal))
    return isPendingStatus(fetched.block.status) ? fetched : undefined
  } catch (error) {
    if (error instanceof UpstreamRpcError) return undefined
    throw error
  }
}
