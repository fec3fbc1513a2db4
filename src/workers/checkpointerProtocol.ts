/** Start data of the thread. */
export interface CheckpointerData {
  readonly path: string
}

/** Messages to the thread. */
export type CheckpointerRequest = 'checkpoint' | 'restart' | 'close'

/** Its reply to the first two. */
export type CheckpointerReply = {
  readonly failure?: { readonly message: string; readonly code?: string }
  /** Of `restart`: the next write begins at the start of the log. */
  readonly isRestarted?: boolean
}
