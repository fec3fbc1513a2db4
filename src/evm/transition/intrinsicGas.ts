import type { Rules } from '../../chain/eth/forks.js'
import type { CallRequest } from '../calls/callRequest.js'

/** Intrinsic gas of a message, and its floor (EIP-7623; zero before Prague). Yellow Paper 6.2 (g0), EIP-2, 2028, 2930,
 *  3860, 7623, 7702. */
export function intrinsicGas(request: CallRequest, rules: Rules): { gas: bigint; floor: bigint } {
  const data = request.data ?? new Uint8Array(0)
  let nonZero = 0
  for (let i = 0; i < data.length; i++) nonZero += data[i] === 0 ? 0 : 1
  const zero = data.length - nonZero
  const perNonZero = rules.has('istanbul') ? 16 : 68
  let gas = 21_000 + zero * 4 + nonZero * perNonZero
  if (request.to === undefined) {
    if (rules.has('homestead')) gas += 32_000
    if (rules.has('shanghai')) gas += 2 * Math.ceil(data.length / 32)
  }
  for (const { storageKeys } of request.accessList ?? []) gas += 2400 + 1900 * storageKeys.length
  gas += 25_000 * (request.authorizationList?.length ?? 0)
  const floor = rules.has('prague') ? 21_000 + 10 * (zero + 4 * nonZero) : 0
  return { gas: BigInt(gas), floor: BigInt(floor) }
}
