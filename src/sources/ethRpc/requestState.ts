import { equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { StateNotAtUpstream, UpstreamHttpStatus, UpstreamInvalidResponse } from '../upstreams/errors.js'
import {
  isMissingMethod,
  isNotFound,
  isRefusedParameter,
  isStateMissing,
  type OptionalMethod,
} from '../upstreams/features.js'
import type { RpcAnswer } from '../upstreams/jsonRpc.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checked } from './checked.js'
import { fetchHeader } from './fetchBlocks.js'
import type { StateBlock } from './stateTypes.js'

/** What is asked of the state after a block. */
export interface StateCalls {
  readonly method: OptionalMethod
  /** Parameters of each call, without the block, which is the last one. */
  readonly params: readonly (readonly unknown[])[]
  readonly block: Pick<StateBlock, 'number' | 'hash'>
}

/** Results in the order of the calls. */
export interface StateAnswers {
  readonly results: readonly unknown[]
  /** Returns what `decode` returns. @throws as `checked`; StateNotAtUpstream when the block was named by its number,
   *  and the upstream has another one of that number by now */
  verify<T>(decode: () => T): Promise<T>
}

/** What makes reth answer `eth_getProof` below its head. */
export const PROOF_WINDOW_HELP = 'reth needs --rpc.eth-proof-window'

function describeMissing(method: OptionalMethod): string {
  return `no ${method}${method === 'eth_getProof' ? ` (${PROOF_WINDOW_HELP})` : ''}`
}

/** Sends calls about the state of one block, which is named by its hash (EIP-1898), or by its number where the upstream
 *  refuses that, which is remembered.
 *  @throws StateNotAtUpstream when it lacks the method, which is remembered, the block or its state; UpstreamError */
export async function requestState(
  upstream: Upstream,
  { method, params, block }: StateCalls,
  signal: AbortSignal | undefined,
): Promise<StateAnswers> {
  const { features, name } = upstream
  const unavailable = (reason: string) => new StateNotAtUpstream(name, { blockNumber: block.number, reason })
  const ask = async (blockParam: unknown) => {
    const answers = await requestOptional(
      upstream,
      method,
      params.map((each) => [...each, blockParam]),
      signal,
    )
    if (answers === undefined) throw unavailable(describeMissing(method))
    return answers
  }
  const resultsOf = (answers: readonly RpcAnswer[]) => {
    const reason = answers.map((answer) => reasonOf(upstream, method, answer)).find((each) => each !== undefined)
    if (reason !== undefined) throw unavailable(reason)
    return answers.map((answer) => upstream.resultOf(method, answer))
  }
  const hasHash = features.has('block by hash')
  if (hasHash) {
    const answers = await ask({ blockHash: formatData(block.hash) })
    if (!answers.some(isRefused)) {
      return { results: resultsOf(answers), verify: async (decode) => checked(upstream, block.number, decode) }
    }
  }
  const results = resultsOf(await ask(formatQuantity(block.number)))
  if (hasHash) features.lacks('block by hash')
  return { results, verify: (decode) => verifyByNumber(upstream, block, decode, signal) }
}

/** Returns the answers of a method that not every node has; undefined when it is missing, which is remembered.
 *  @throws UpstreamError */
export async function requestOptional(
  upstream: Upstream,
  method: OptionalMethod,
  params: readonly (readonly unknown[])[],
  signal: AbortSignal | undefined,
): Promise<RpcAnswer[] | undefined> {
  if (!upstream.features.has(method)) return undefined
  try {
    const calls = params.map((each) => ({ method, params: each }))
    const answers = await upstream.request(calls, signal)
    if (!answers.some((answer) => 'error' in answer && isMissingMethod(answer.error))) return answers
  } catch (error) {
    // Some providers refuse whole namespaces with 401 to 405.
    if (!(error instanceof UpstreamHttpStatus) || error.status < 400 || error.status >= 500) throw error
  }
  upstream.features.lacks(method)
  return undefined
}

/** True for an error that the form of the block's name may have caused. */
export function isRefused(answer: RpcAnswer): boolean {
  return 'error' in answer && !isStateMissing(answer.error) && isRefusedParameter(answer.error)
}

/** Why an upstream does not have the state, as it words it; undefined for a result or another error. */
function reasonOf(upstream: Upstream, method: string, answer: RpcAnswer): string | undefined {
  if ('result' in answer) return undefined
  const { message } = answer.error
  if (isStateMissing(answer.error)) return upstream.redact(message)
  try {
    upstream.resultOf(method, answer)
  } catch (error) {
    if (isNotFound(error)) return upstream.redact(message)
  }
  return undefined
}

/** Verifies the state of a block that was named by its number. */
async function verifyByNumber<T>(
  upstream: Upstream,
  block: Pick<StateBlock, 'number' | 'hash'>,
  decode: () => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return checked(upstream, block.number, decode)
  } catch (error) {
    if (error instanceof UpstreamInvalidResponse) await requireBlock(upstream, block, signal)
    throw error
  }
}

/** @throws StateNotAtUpstream when the upstream has another block of that number */
export async function requireBlock(
  upstream: Upstream,
  { number, hash }: Pick<StateBlock, 'number' | 'hash'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const header = await fetchHeader(upstream, number, signal)
  if (header && equalBytes(header.hash, hash)) return
  const reason = header ? `its block ${number} is another one` : `it has no block ${number}`
  throw new StateNotAtUpstream(upstream.name, { blockNumber: number, reason })
}
