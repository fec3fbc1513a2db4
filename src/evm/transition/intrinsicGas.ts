import type { Rules } from '../../chain/eth/forks/rules.js'
import { countZeroBytes, equalBytes } from '../../lib/bytes.js'
import type { CallRequest } from '../calls/callRequest.js'

/** Inputs of the intrinsic gas. */
export type IntrinsicRequest = Pick<CallRequest, 'from' | 'to' | 'value' | 'data' | 'accessList' | 'authorizationList'>

/** Gas due before execution, and the minimum that is paid. */
export interface IntrinsicGas {
  gas: bigint
  floor: bigint
}

/** Intrinsic gas of a message, and its floor (EIP-7623; zero before Prague). Yellow Paper 6.2 (g0), EIP-2, 2028, 2930,
 *  3860, 7623, 7702; from Amsterdam on EIP-2780, 7976, 7981, 8037. */
export function intrinsicGas(request: IntrinsicRequest, rules: Rules): IntrinsicGas {
  const data = request.data ?? new Uint8Array(0)
  const zero = countZeroBytes(data)
  const nonZero = data.length - zero
  if (rules.eip2780) return amsterdamGas(request, zero, nonZero)
  let gas = 21_000 + zero * 4 + nonZero * rules.nonZeroByteGas
  if (request.to === undefined) {
    gas += rules.creationGas + rules.initCodeWordGas * Math.ceil(data.length / 32)
  }
  for (const { storageKeys } of request.accessList ?? []) gas += 2400 + 1900 * storageKeys.length
  gas += 25_000 * (request.authorizationList?.length ?? 0)
  const { floorByteGas } = rules
  const floor = floorByteGas === 0 ? 0 : 21_000 + floorByteGas * (zero + 4 * nonZero)
  return { gas: BigInt(gas), floor: BigInt(floor) }
}

const ZERO_ADDRESS = new Uint8Array(20) // the sender of calls that name none
const TX_BASE = 12_000 // EIP-2780
const CREATION = 12_000
const COLD_RECIPIENT = 3000
const TRANSFER = 6000
const FLOOR_BYTE = 64 // EIP-7976
const LISTED_ADDRESS = 2900 // EIP-8038
const LISTED_KEY = 2000
const LISTED_ADDRESS_DATA = 1280 // EIP-7981: 64 per byte
const LISTED_KEY_DATA = 2048
const AUTHORIZATION = 7816 // EIP-8037

function amsterdamGas(request: IntrinsicRequest, zero: number, nonZero: number): IntrinsicGas {
  const { from, to, value = 0n, accessList = [], authorizationList = [] } = request
  const isCreation = to === undefined
  const isToSelf = !isCreation && equalBytes(to, from ?? ZERO_ADDRESS)
  let base = TX_BASE
  if (isCreation) base += CREATION
  else if (!isToSelf) base += value > 0n ? COLD_RECIPIENT + TRANSFER : COLD_RECIPIENT
  let gas = base + zero * 4 + nonZero * 16
  let floor = base + FLOOR_BYTE * (zero + nonZero)
  if (isCreation) gas += 2 * Math.ceil((zero + nonZero) / 32)
  for (const { storageKeys } of accessList) {
    const data = LISTED_ADDRESS_DATA + LISTED_KEY_DATA * storageKeys.length
    gas += LISTED_ADDRESS + LISTED_KEY * storageKeys.length + data
    floor += data
  }
  gas += AUTHORIZATION * authorizationList.length
  return { gas: BigInt(gas), floor: BigInt(floor) }
}
