/** Start data of the thread. */
export interface CheckpointerData {
  readonly path: string
}

/** Messages to the thread. */
export type CheckpointerRequest = 'checkpoint' | 'restart' | 'close'

/** Reply of the thread to the first two. */
export type CheckpointerReply = {
  readonly failure?: { readonly message: string; readonly code?: string }
  /** For `restart`: true when the next write begins at the start of the log. */
  readonly isRestarted?: boolean
}
