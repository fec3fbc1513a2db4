/** Tells listeners what happens to a chain. */
export interface Feed {
  /** Number of listeners. */
  size(): number
  /** Begins at the chain as it is: what was not told before is left out. */
  start(): void
  /** True when there may be something to tell. */
  isStale(): boolean
  /** Tells the next change; `wait` gives a promise when the time of this turn is used up. False if there is none for now. */
  notifyNext(wait: () => Promise<void> | undefined): Promise<boolean>
}
