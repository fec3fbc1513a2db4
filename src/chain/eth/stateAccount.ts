/** An account as it was before the work at hand. */
export interface StateAccount {
  nonce: bigint
  balance: bigint
  codeHash: Uint8Array // 32; `EMPTY_CODE_HASH` when there is none
}
