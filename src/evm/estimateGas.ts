import type { Deadline } from '../lib/deadline.js'
import type { CallOutcome, CallSite } from './call.js'
import { CallFailed } from './errors.js'
import type { CallRequest } from './service.js'

const PLAIN_TRANSFER_GAS = 21_000n
const CALL_STIPEND = 2300n

/** Searches a gas limit with which the call succeeds, in geth's steps: at the most first; then a guess from what was
 *  used; then halving until the bounds are within 1.5 % of each other.
 *  @throws CallReverted, CallFailed, DeadlineExceeded. */
export async function estimateGas(
  site: CallSite,
  request: CallRequest,
  gasCapPercent: number,
  deadline: Deadline,
): Promise<bigint> {
  let high = highestGas(site, request, gasCapPercent)
  if (isPlainTransfer(site, request) && high >= PLAIN_TRANSFER_GAS) return PLAIN_TRANSFER_GAS
  const first = await site.run(request, high)
  if (first.failure !== undefined) {
    if (isOutOfGas(first)) throw new CallFailed(`gas required exceeds allowance (${high})`)
    site.requireOutput(first)
  }
  const succeedsAt = async (gasLimit: bigint): Promise<boolean> => {
    deadline.check()
    try {
      return (await site.run(request, gasLimit)).failure === undefined
    } catch (error) {
      if (error instanceof CallFailed) return false // below the intrinsic gas
      throw error
    }
  }
  let low = first.gasUsed - 1n
  // A call passes on at most 63/64 of its gas (EIP-150), so that much more may be needed than was used.
  const guess = ((first.gasUsed + first.gasRefunded + CALL_STIPEND) * 64n) / 63n
  if (guess < high) {
    if (await succeedsAt(guess)) high = guess
    else low = guess
  }
  while (low + 1n < high) {
    if ((high - low) * 1000n < high * 15n) break
    // Most calls need little more than the low bound: a middle far above it wastes a run.
    const half = (low + high) / 2n
    const middle = half > low * 2n ? low * 2n : half
    if (await succeedsAt(middle)) high = middle
    else low = middle
  }
  return high
}

function highestGas(site: CallSite, request: CallRequest, gasCapPercent: number): bigint {
  const { header } = site
  const asked = request.gas !== undefined && request.gas >= PLAIN_TRANSFER_GAS ? request.gas : header.gasLimit
  let high = site.clampGas(asked, gasCapPercent)
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
  return failure === 'out of gas' || failure === 'code store out of gas'
}
