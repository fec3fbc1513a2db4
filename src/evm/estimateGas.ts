import { type CallOutcome, type CallSite, clampGas, requireOutput } from './callSite.js'
import { CallFailed } from './errors.js'
import { CODE_STORE_OUT_OF_GAS, OUT_OF_GAS } from './interpreter/failures.js'
import type { CallRequest } from './service.js'

const PLAIN_TRANSFER_GAS = 21_000n
const CALL_STIPEND = 2300n

/** What a gas limit came to; undefined when the call could not even begin with it, which is allowed for all but the first. */
export type Tried = CallOutcome | undefined

/** Searches a gas limit with which the call succeeds, in geth's steps: at the most first; then a guess from what was
 *  used; then halving until the bounds are within 1.5 % of each other. It gives gas limits to be tried and goes on with what
 *  came of each, so that the same search serves interpreters that give promises.
 *  @throws CallReverted, CallFailed. */
export function* searchGas(
  site: CallSite,
  request: CallRequest,
  gasCapPercent: number,
): Generator<bigint, bigint, Tried> {
  let high = highestGas(site, request, gasCapPercent)
  if (isPlainTransfer(site, request) && high >= PLAIN_TRANSFER_GAS) return PLAIN_TRANSFER_GAS
  const first = (yield high)!
  if (first.status !== 'success') {
    if (isOutOfGas(first)) throw new CallFailed(`gas required exceeds allowance (${high})`)
    requireOutput(first)
  }
  let low = first.gasUsed - 1n
  // A call passes on at most 63/64 of its gas (EIP-150), so that much more may be needed than was used.
  const guess = ((first.gasUsed + first.gasRefunded + CALL_STIPEND) * 64n) / 63n
  if (guess < high) {
    if (isSuccess(yield guess)) high = guess
    else low = guess
  }
  while (low + 1n < high) {
    if ((high - low) * 1000n < high * 15n) break
    // Most calls need little more than the low bound: a middle far above it wastes a run.
    const half = (low + high) / 2n
    const middle = half > low * 2n ? low * 2n : half
    if (isSuccess(yield middle)) high = middle
    else low = middle
  }
  return high
}

/** Runs a search to its end. `run` tries a gas limit. @throws what `run` throws at the first, and all but CallFailed later. */
export function finishSearch(search: ReturnType<typeof searchGas>, run: (gasLimit: bigint) => CallOutcome): bigint {
  let step = search.next()
  for (let first = true; step.done !== true; first = false) {
    let tried: Tried
    try {
      tried = run(step.value)
    } catch (error) {
      if (first || !(error instanceof CallFailed)) throw error
    }
    step = search.next(tried)
  }
  return step.value
}

function isSuccess(tried: Tried): boolean {
  return tried?.status === 'success'
}

function highestGas(site: CallSite, request: CallRequest, gasCapPercent: number): bigint {
  const { header } = site
  const asked = request.gas !== undefined && request.gas >= PLAIN_TRANSFER_GAS ? request.gas : header.gasLimit
  let high = clampGas(header, asked, gasCapPercent)
  const price = request.gasPrice ?? request.maxFeePerGas ?? 0n
  if (price > 0n) {
    const balance = site.balance(request.from ?? new Uint8Array(20))
    const value = request.value ?? 0n
    if (value > balance) throw new CallFailed('insufficient funds for transfer')
    const affordable = (balance - value) / price
    if (affordable < high) high = affordable
  }
  return high
}

function isPlainTransfer(site: CallSite, request: CallRequest): boolean {
  return (
    request.to !== undefined &&
    (request.data?.length ?? 0) === 0 &&
    (request.accessList?.length ?? 0) === 0 &&
    (request.authorizationList?.length ?? 0) === 0 &&
    (request.value ?? 0n) <= site.balance(request.from ?? new Uint8Array(20)) &&
    !site.hasCode(request.to) &&
    !isPrecompileAddress(request.to)
  )
}

function isPrecompileAddress(address: Uint8Array): boolean {
  return address.subarray(0, 18).every((byte) => byte === 0)
}

function isOutOfGas({ failure }: CallOutcome): boolean {
  return failure === OUT_OF_GAS || failure === CODE_STORE_OUT_OF_GAS
}
