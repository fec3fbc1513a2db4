import { noDeadline } from '../lib/deadline.js'

/** Limits of calls of datasets: the gas and memory of `eth_call`, without a deadline, since gas bounds a call. */
export const CALL_LIMITS = {
  limits: { gasCapPercent: 1_000, maxCallGas: 2_000_000_000, callMemoryBytes: 256 * 2 ** 20 },
  deadline: noDeadline,
} as const
