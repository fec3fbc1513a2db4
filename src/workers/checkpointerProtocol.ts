/** Start data of the thread. */
export interface CheckpointerData {
  readonly path: string
}

/** Messages to the thread. */
export type CheckpointerRequest = 'checkpoint' | 'close'

/** Its reply to the first. */
export type CheckpointerReply = { readonly failure?: { readonly message: string; readonly code?: string } }
