import type { StoragePrices } from './rules.js'
import { CURRENT_IS_ORIGINAL, CURRENT_ZERO, NEW_IS_CURRENT, NEW_IS_ORIGINAL, NEW_ZERO, ORIGINAL_ZERO } from './state.js'

/** Gas of an SSTORE without the cold-slot surcharge. `change` is the result of `EvmState.slotChange`. Yellow Paper,
 *  appendix H; EIP-1283, EIP-2200, EIP-2929. */
export function storageGas({ net, noChange, set, reset }: StoragePrices, change: number): number {
  if (!net) return (change & CURRENT_ZERO) !== 0 && (change & NEW_ZERO) === 0 ? set : reset
  if ((change & NEW_IS_CURRENT) !== 0 || (change & CURRENT_IS_ORIGINAL) === 0) return noChange
  return (change & ORIGINAL_ZERO) !== 0 ? set : reset
}

/** Change of the refund by an SSTORE; may be negative. */
export function storageRefund({ net, noChange, set, reset, clearRefund }: StoragePrices, change: number): number {
  const clears = (change & NEW_ZERO) !== 0
  if (!net) return clears && (change & CURRENT_ZERO) === 0 ? clearRefund : 0
  if ((change & NEW_IS_CURRENT) !== 0) return 0
  const hadValue = (change & ORIGINAL_ZERO) === 0
  if ((change & CURRENT_IS_ORIGINAL) !== 0) return hadValue && clears ? clearRefund : 0
  let refund = 0
  if (hadValue) {
    if ((change & CURRENT_ZERO) !== 0) refund -= clearRefund
    else if (clears) refund += clearRefund
  }
  if ((change & NEW_IS_ORIGINAL) !== 0) refund += (hadValue ? reset : set) - noChange
  return refund
}
