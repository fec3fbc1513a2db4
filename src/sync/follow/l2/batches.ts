import type { L2Verified } from '../../../sources/starknet/types.js'

// A transaction holds so many blocks, or as many transactions, at most. Those that are there are committed when the next one
// takes longer than this.
const BATCH_BLOCKS = 100
const BATCH_TRANSACTIONS = 5000
const WAIT_MS = 250

/** The blocks in groups, each of which becomes a transaction. What came before a failure is yielded before it is thrown. */
export async function* collectBatches(
  blocks: AsyncGenerator<L2Verified, void, undefined>,
): AsyncGenerator<L2Verified[], void, undefined> {
  let batch: L2Verified[] = []
  let transactions = 0
  const takeAll = () => {
    const taken = batch
    batch = []
    transactions = 0
    return taken
  }
  try {
    for (;;) {
      const next = blocks.next()
      next.catch(() => {}) // awaited below, unless the iteration is ended before
      if (batch.length > 0 && (await isSlow(next))) yield takeAll()
      const { value } = await next
      if (value === undefined) break
      batch.push(value)
      transactions += value.block.transactionHashes.length
      if (batch.length >= BATCH_BLOCKS || transactions >= BATCH_TRANSACTIONS) yield takeAll()
    }
  } catch (error) {
    if (batch.length > 0) yield takeAll()
    throw error
  } finally {
    await blocks.return()
  }
  if (batch.length > 0) yield takeAll()
}

/** True when it takes long to settle. */
function isSlow(next: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), WAIT_MS)
    const end = () => {
      clearTimeout(timer)
      resolve(false)
    }
    next.then(end, end)
  })
}
