import type { L2Verified } from '../../../sources/starknet/types.js'

// Maximum blocks and transactions of layer 2 in one database transaction. Waiting blocks are committed when the next
// one takes longer than `WAIT_MS`.
const BATCH_BLOCKS = 100
const BATCH_TRANSACTIONS = 5000
const WAIT_MS = 250

/** Yields the blocks in groups, one per database transaction. Yields the blocks before a failure before throwing it. */
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
      next.catch(() => {}) // awaited below, unless the iteration ends first
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

/** True when the promise stays pending for `WAIT_MS`. */
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
