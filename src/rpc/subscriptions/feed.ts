/** Notifies listeners of changes of a chain. */
export interface Feed {
  /** Number of listeners. */
  size(): number
  /** Starts at the current chain: earlier changes are skipped. */
  start(): void
  /** True when there may be a change to notify of. */
  isStale(): boolean
  /** Notifies of the next change; `wait` returns a promise when the time of this turn is used up. False if there is no
   *  change for now. */
  notifyNext(wait: () => Promise<void> | undefined): Promise<boolean>
}
