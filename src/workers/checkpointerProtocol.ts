/** What the thread is started with. */
export interface CheckpointerData {
  readonly path: string
}

/** What it is told. */
export type CheckpointerRequest = 'checkpoint' | 'close'

/** What it answers to the first. */
export type CheckpointerReply = { readonly failure?: string }
