/** Gas of one transaction from Osaka on (EIP-7825). */
export const MAX_TRANSACTION_GAS = 2n ** 24n

/** Blobs of one transaction from Osaka on (EIP-7594). */
export const MAX_TRANSACTION_BLOBS = 6
