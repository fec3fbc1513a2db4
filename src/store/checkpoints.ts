/** Copies committed pages from the write-ahead log into the database file while the writer continues. A checkpoint by
 *  the writer itself makes some commits take 100 ms and more. */
export interface Checkpoints {
  /** Call after a commit. Resolves when the writer may continue: at once while the log is small, otherwise when all of
   *  it is copied, so that the next write restarts the log and the file does not grow without bound. Rejects with
   *  CheckpointFailed. */
  afterCommit(): Promise<void> | undefined
}
