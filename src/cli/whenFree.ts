/** What `work` gives, tried again for as long as another process keeps the database in one transaction, such as a long reorg. */
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
