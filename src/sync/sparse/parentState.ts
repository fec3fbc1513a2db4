/** A block on whose state another one is executed, or whose state is proved. */
export interface ParentState {
  readonly number: number
  readonly hash: Uint8Array // 32
  readonly stateRoot: Uint8Array // 32
}
