/** Returns the result of `work`, retrying while another process is in a long write transaction, such as a reorg. */
export function whenFree<T>(work: () => T): T {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return work()
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
      if (isFirst) {
        process.stderr.write('waiting for the transaction of another cairn process, an import or a reorg, to end\n')
      }
    }
  }
}
