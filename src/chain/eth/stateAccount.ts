/** The fields of an account in the state. */
export interface StateAccount {
  nonce: bigint
  balance: bigint
  codeHash: Uint8Array // 32; `EMPTY_CODE_HASH` without code
}
