import type { RawBlock } from '../../sources/source.js'
import type { ChainReader } from '../../store/rows/types.js'

// A consensus client may go back to a branch that it left; deeper reorgs have not been seen under proof of stake.
const MAX_KEPT = 64

/** Returns the newest blocks from number `from` on, at most 64, as payloads: a later fork choice may go back to
 *  them. */
export function removedBlocks(reader: ChainReader, from: number): { raw: RawBlock; sizeBytes: number }[] {
  const head = reader.head() ?? -1
  const kept: { raw: RawBlock; sizeBytes: number }[] = []
  for (let number = Math.max(from, head - MAX_KEPT + 1); number <= head; number++) {
    const stored = reader.blockByNumber(number)!
    const { hash, header, withdrawals, sizeBytes } = stored
    const transactions = reader.transactions(stored)
    const block = { hash, header, transactions, uncles: reader.uncles(number), withdrawals, sizeBytes }
    const blockAccessList = reader.blockAccessList(number)
    kept.push({
      raw: { block, hasVerifiedRoots: true, blockAccessList },
      sizeBytes: sizeBytes + (blockAccessList?.length ?? 0),
    })
  }
  return kept
}
