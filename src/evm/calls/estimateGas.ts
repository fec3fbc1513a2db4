import { MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import { CallFailed, CallRefused } from '../errors.js'
import { isOutOfGas } from '../interpreter/failures.js'
import { intrinsicGas } from '../transition/intrinsicGas.js'
import { blobCost, feeCapOf, requireCallMembers, ZERO_ADDRESS } from './callChecks.js'
import { type CallContext, type CallLimits, type CallOutcome, clampGas, requireOutput } from './callContext.js'
import type { CallRequest } from './callRequest.js'

const CALL_STIPEND = 2300n

/** Outcome of a run with one gas limit: how the call ended, or why it could not start. */
export type GasTrial = CallOutcome | CallRefused

/** Binary search for a gas limit with which the call succeeds, in the steps of geth's `gasestimator`: a plain transfer;
 *  the maximum; a guess from the gas used; then halving until the bounds are within 1.5 %. It yields gas limits to try
 *  and receives the outcomes, so it serves synchronous and asynchronous interpreters. @throws CallReverted, CallFailed,
 *  ReturnDataTooLong. */
export function* searchGasLimit(
  context: CallContext,
  request: CallRequest,
  limits: CallLimits,
): Generator<bigint, bigint, GasTrial> {
  requireCallMembers(request, context)
  let high = highestGas(context, request, limits)
  if (isToAccountWithoutCode(context, request)) {
    const least = plainTransferGas(context, request)
    const tried = yield least
    if (!(tried instanceof CallRefused) && isSuccess(tried)) return least
  }
  const first = outcomeOf(yield high)
  if (first === undefined || isOutOfGas(first.failure)) {
    throw new CallFailed(`gas required exceeds allowance (${high})`)
  }
  requireOutput(first, limits)
  let low = first.gasUsed - 1n
  // EIP-150: a call passes on at most 63/64 of its gas, so it may need this much more than it used.
  const guess = ((first.gasUsed + first.gasRefunded + CALL_STIPEND) * 64n) / 63n
  if (guess < high) {
    if (isSuccess(outcomeOf(yield guess))) high = guess
    else low = guess
  }
  while (low + 1n < high) {
    if ((high - low) * 1000n < high * 15n) break
    // Most calls need little more than the lower bound; a midpoint far above it wastes a run.
    const half = (low + high) / 2n
    const middle = half > low * 2n ? low * 2n : half
    if (isSuccess(outcomeOf(yield middle))) high = middle
    else low = middle
  }
  return high
}

/** Runs a search to its end. `run` executes with a gas limit. @throws what `run` throws, except CallRefused. */
export function finishSearch(
  search: ReturnType<typeof searchGasLimit>,
  run: (gasLimit: bigint) => CallOutcome,
): bigint {
  let step = search.next()
  while (step.done !== true) step = search.next(attempt(run, step.value))
  return step.value
}

function attempt(run: (gasLimit: bigint) => CallOutcome, gasLimit: bigint): GasTrial {
  try {
    return run(gasLimit)
  } catch (error) {
    if (error instanceof CallRefused) return error
    throw error
  }
}

/** How the call ended; undefined if it needs more gas to start. @throws CallFailed if it cannot start with any gas. */
function outcomeOf(tried: GasTrial): CallOutcome | undefined {
  if (!(tried instanceof CallRefused)) return tried
  if (tried.rule === 'intrinsic gas') return undefined
  throw new CallFailed(`failed with ${tried.gasLimit} gas: ${tried.reason}`)
}

function isSuccess(tried: CallOutcome | undefined): boolean {
  return tried?.status === 'success'
}

// A smaller `gas` is ignored, as in geth.
const LEAST_GAS = 21_000n

/** Gas of a call that runs no code: from Amsterdam on it depends on recipient and value. */
function plainTransferGas({ rules }: CallContext, request: CallRequest): bigint {
  return rules.eip2780 ? intrinsicGas(request, rules).gas : LEAST_GAS
}

/** The highest gas limit to try: the caps, the rules of transactions, and the sender's funds. */
function highestGas(context: CallContext, request: CallRequest, limits: CallLimits): bigint {
  const { header, rules } = context
  let high = request.gas !== undefined && request.gas >= LEAST_GAS ? request.gas : header.gasLimit
  // EIP-8037: more gas is of use for state.
  if (rules.eip7825 && high > MAX_TRANSACTION_GAS) high = MAX_TRANSACTION_GAS
  const price = feeCapOf(request, header)
  if (price > 0n) {
    const affordable = availableWei(context, request) / price
    if (affordable < high) high = affordable
  }
  return clampGas(context.blockGasLimit, high, limits)
}

/** The sender's funds for gas, in wei. @throws CallFailed if there are none. */
function availableWei({ balance, rules }: CallContext, request: CallRequest): bigint {
  const afterValue = balance(request.from ?? ZERO_ADDRESS) - (request.value ?? 0n)
  if (afterValue <= 0n) throw new CallFailed('insufficient funds for transfer')
  const blobs = blobCost({ request, rules })
  if (blobs > 0n && blobs >= afterValue) throw new CallFailed('insufficient funds for gas * price + value')
  return afterValue - blobs
}

function isToAccountWithoutCode(context: CallContext, { to, data }: CallRequest): boolean {
  return to !== undefined && (data?.length ?? 0) === 0 && !context.hasCode(to)
}
