import { encodeRlp } from './rlp.js'
import { orderedTrieRoot } from './trie.js'
import type { Withdrawal } from './types.js'

/** RLP of a withdrawal: [index, validator index, address, amount in Gwei] (EIP-4895). */
function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  return encodeRlp(withdrawalFields(withdrawal))
}

/** RLP of a list of withdrawals. */
export function encodeWithdrawals(withdrawals: readonly Withdrawal[]): Uint8Array {
  return encodeRlp(withdrawals.map(withdrawalFields))
}

/** Returns the fields of a withdrawal in their order (EIP-4895). */
export function withdrawalFields({ index, validatorIndex, address, amountGwei }: Withdrawal) {
  return [index, validatorIndex, address, amountGwei]
}

/** Root of the withdrawals' trie, 32 bytes (EIP-4895). */
export function withdrawalsRoot(withdrawals: readonly Withdrawal[]): Uint8Array {
  return orderedTrieRoot(withdrawals.map(encodeWithdrawal))
}
