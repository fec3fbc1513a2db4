/** Gas of one transaction from Osaka on (EIP-7825). */
export const MAX_TRANSACTION_GAS = 2n ** 24n

/** Blobs of one transaction from Osaka on (EIP-7594). */
export const MAX_TRANSACTION_BLOBS = 6

/** The nonce that no account may go beyond (EIP-2681): a sender or creator that has it cannot act. */
export const MAX_NONCE = 2n ** 64n - 1n

/** The nonce of an account after a transaction. Simulated transactions may have the highest one: it wraps around. */
export function nextNonce(nonce: bigint): bigint {
  return nonce === MAX_NONCE ? 0n : nonce + 1n
}
