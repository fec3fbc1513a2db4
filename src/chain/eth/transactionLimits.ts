/** Gas of one transaction from Osaka on (EIP-7825). */
export const MAX_TRANSACTION_GAS = 2n ** 24n

/** Blobs of one transaction from Osaka on (EIP-7594). */
export const MAX_TRANSACTION_BLOBS = 6

/** The nonce that no account may go beyond (EIP-2681): a sender or creator that has it cannot act. */
export const MAX_NONCE = 2n ** 64n - 1n
