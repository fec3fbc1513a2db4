/** Copies committed pages from the write-ahead log into the database file while the writer goes on: done by the writer
 *  itself, a commit now and then would take 100 ms and more. */
export interface Checkpoints {
  /** To be called after a commit. The promise resolves when the writer may go on: at once as long as the log is small,
   *  otherwise when all of it is copied, so that the next write begins it anew and the file does not grow without end.
   *  Rejects with CheckpointFailed. */
  afterCommit(): Promise<void> | undefined
}
