import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import type { Database } from '../../store/database.js'
import { createBaseRows } from '../../store/state/baseRows.js'
import type { ChainHead } from '../head/chainHead.js'
import { acceptUnexecuted, type UnexecutedBlock } from '../unexecutedBlock.js'
import type { RecentAncestors } from '../validate/ancestors.js'
import type { VerifiedRecording } from './recordedSource.js'
import type { SparseChain } from './sparseChain.js'

interface RecordedChain {
  readonly db: Database
  readonly spec: ChainSpec
  readonly keepsAppearances: boolean
  readonly head: ChainHead
  readonly ancestors: RecentAncestors
  readonly sparse: SparseChain
}

/** Appends the first block of a recording with the state that was recorded after it, within the open transaction.
 *  @throws InvalidBlock when the block or its receipts do not match its header */
export function beginRecorded(
  { db, head, ancestors, sparse, ...chain }: RecordedChain,
  { first, state }: { first: UnexecutedBlock; state: VerifiedRecording },
): void {
  const { block } = first
  const { ancestorHashes, keys, nodes, base } = state
  const { uncleHashes, ...parts } = acceptUnexecuted(chain, first)
  head.append(block, parts)
  sparse.setAncestors(ancestorHashes)
  sparse.beginRecorded(block)
  ancestors.add(block, uncleHashes)
  createBaseRows(db).insert(block.header.number, base)
  sparse.learn({ keys, nodes })
}
