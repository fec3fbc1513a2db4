import { decodeShortString, encodeFelt, formatFelt } from '../../chain/starknet/felt.js'
import { felt, list, member, text } from '../../chain/starknet/recording/fields.js'
import { isPendingStatus, isRejectedStatus } from '../../chain/starknet/types.js'
import { UpstreamRpcError } from '../upstreams/errors.js'
import type { UpstreamCall } from '../upstreams/jsonRpc.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checkedL2, lieOf, readFetched, readRef } from './checkedL2.js'
import type { L2Dialect, L2Fetched } from './types.js'

/* Starknet JSON-RPC 0.6 to 0.10 (starknet-specs, api/starknet_api_openrpc.json). */

/** Returns `[0, 8]` for a version such as 0.8.1. */
type SpecVersion = readonly [major: number, minor: number]

// Error codes of the specification.
const BLOCK_NOT_FOUND = 24
const NO_BLOCKS = 32
const METHOD_NOT_FOUND = -32601

/** Asks upstreams that speak Starknet JSON-RPC. `starknet_specVersion` decides what each supports. */
export function createRpcDialect(): L2Dialect {
  const versions = new WeakMap<Upstream, SpecVersion>()
  const isFrom = (upstream: Upstream, minor: number) => {
    const [major, own] = versions.get(upstream) ?? [0, 6]
    return major > 0 || own >= minor
  }
  return {
    chainId: async (upstream, signal) => {
      const version = await upstream.call('starknet_specVersion', [], signal)
      versions.set(upstream, parseVersion(upstream, version))
      const id = await upstream.call('starknet_chainId', [], signal)
      return checkedL2(upstream, undefined, () => decodeShortString(felt({ value: id, path: 'starknet_chainId' })))
    },
    head: async (upstream, signal) => {
      const result = await upstream.call('starknet_blockHashAndNumber', [], signal)
      const { number, hash } = checkedL2(upstream, undefined, () => readRef(result, 'starknet_blockHashAndNumber'))
      return { number, hash: encodeFelt(hash) }
    },
    blocks: (upstream, numbers, signal) => fetchBlocks(upstream, numbers, isFrom(upstream, 7), signal),
    withStateDiff: async (upstream, { block, json }, signal) => {
      const [update] = await askEach(
        upstream,
        'starknet_getStateUpdate',
        [[{ block_hash: formatFelt(block.hash!) }]],
        signal,
      )
      return update === undefined
        ? undefined
        : readFetched(upstream, { block: json, state_update: update }, block.number)
    },
    // Receipts have gas totals, and blocks the price of L2 gas, since 0.8.
    isComplete: (upstream) => isFrom(upstream, 8),
    status: async (upstream, number, signal) => {
      const [json] = await askEach(upstream, 'starknet_getBlockWithTxHashes', [[{ block_number: number }]], signal)
      return json === undefined ? undefined : readStatus(upstream, json, number)
    },
    acceptedOnL1: async (upstream, signal) => {
      if (!isFrom(upstream, 9) || !upstream.features.has('l1_accepted')) return undefined
      try {
        const json = await upstream.call('starknet_getBlockWithTxHashes', ['l1_accepted'], signal)
        return checkedL2(upstream, undefined, () => readRef(json, 'l1_accepted'))
      } catch (error) {
        if (!(error instanceof UpstreamRpcError)) throw error
        if (error.code !== BLOCK_NOT_FOUND) upstream.features.lacks('l1_accepted')
        return undefined
      }
    },
    pending: async (upstream, _parent, signal) => {
      const hasReceipts = isFrom(upstream, 7) && upstream.features.has('starknet_getBlockWithReceipts')
      const method = hasReceipts ? 'starknet_getBlockWithReceipts' : 'starknet_getBlockWithTxHashes'
      try {
        const tag = isFrom(upstream, 9) ? 'pre_confirmed' : 'pending'
        const fetched = readFetched(upstream, await upstream.call(method, [tag], signal))
        // Without a pending block some nodes return the newest one.
        return isPendingStatus(fetched.block.status) ? fetched : undefined
      } catch (error) {
        if (error instanceof UpstreamRpcError) return undefined
        throw error
      }
    },
  }
}

function parseVersion(upstream: Upstream, version: unknown): SpecVersion {
  const [, major, minor] = (typeof version === 'string' && /^(\d{1,3})\.(\d{1,3})\b/.exec(version)) || []
  if (minor === undefined) throw lieOf(upstream, undefined, 'starknet_specVersion', 'expected a version such as 0.8.1')
  return [Number(major), Number(minor)]
}

/** Returns hash and status of a block. @throws UpstreamInvalidResponse, also when it is not the requested block */
export function readStatus(upstream: Upstream, json: unknown, number: number) {
  return checkedL2(upstream, number, () => {
    const ref = readRef(json, 'block')
    if (ref.number !== number) throw lieOf(upstream, number, 'block number', `expected ${number}, got ${ref.number}`)
    const status = text(member({ value: json, path: 'block' }, 'status'))
    return { ...ref, isAcceptedOnL1: status === 'ACCEPTED_ON_L1' }
  })
}

async function fetchBlocks(
  upstream: Upstream,
  numbers: readonly number[],
  knowsReceipts: boolean,
  signal: AbortSignal | undefined,
): Promise<(L2Fetched | undefined)[]> {
  const params = numbers.map((number) => [{ block_number: number }])
  if (knowsReceipts && upstream.features.has('starknet_getBlockWithReceipts')) {
    try {
      const blocks = await askEach(upstream, 'starknet_getBlockWithReceipts', params, signal)
      return blocks.map((json, i) => readConfirmed(upstream, json, numbers[i]))
    } catch (error) {
      if (!(error instanceof UpstreamRpcError && error.code === METHOD_NOT_FOUND)) throw error
      upstream.features.lacks('starknet_getBlockWithReceipts')
    }
  }
  const blocks = await askEach(upstream, 'starknet_getBlockWithTxs', params, signal)
  const fetched: (L2Fetched | undefined)[] = []
  for (const [i, json] of blocks.entries()) fetched.push(await addReceipts(upstream, json, numbers[i], signal))
  return fetched
}

/** Returns a block with transactions from `starknet_getBlockWithReceipts`, which was added in 0.7. */
async function addReceipts(
  upstream: Upstream,
  json: unknown,
  number: number,
  signal: AbortSignal | undefined,
): Promise<L2Fetched | undefined> {
  const plain = readConfirmed(upstream, json, number)
  if (plain === undefined) return undefined
  const hashes = plain.block.transactionHashes.map((hash) => [formatFelt(hash)])
  const receipts = await askEach(upstream, 'starknet_getTransactionReceipt', hashes, signal)
  if (receipts.includes(undefined)) return undefined // reorganized meanwhile
  const transactions = checkedL2(upstream, number, () =>
    list(member({ value: json, path: 'block' }, 'transactions'), ({ value }) => value),
  )
  const pairs = transactions.map((transaction, i) => ({ transaction, receipt: receipts[i] }))
  return readConfirmed(upstream, { ...(json as object), transactions: pairs }, number)
}

/** Returns the block; undefined where the upstream has none, one that is not confirmed yet, or one that it rejected. */
export function readConfirmed(upstream: Upstream, json: unknown, number: number): L2Fetched | undefined {
  if (json === undefined) return undefined
  const fetched = readFetched(upstream, json, number)
  const { block } = fetched
  if (isPendingStatus(block.status) || isRejectedStatus(block.status)) return undefined
  if (block.number !== number) throw lieOf(upstream, number, 'block number', `expected ${number}, got ${block.number}`)
  return fetched
}

/** Returns results in the order of `params`; undefined for blocks and transactions that are not found. @throws
 *  UpstreamRpcError */
async function askEach(
  upstream: Upstream,
  method: string,
  params: readonly unknown[][],
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  if (params.length === 0) return []
  const calls: UpstreamCall[] = params.map((each) => ({ method, params: each }))
  const answers = await upstream.request(calls, signal)
  return answers.map((answer) => {
    try {
      return upstream.resultOf(method, answer) ?? undefined
    } catch (error) {
      // 29: transaction hash not found; 25 before 0.6.
      if (error instanceof UpstreamRpcError && [BLOCK_NOT_FOUND, NO_BLOCKS, 25, 29].includes(error.code))
        return undefined
      throw error
    }
  })
}
