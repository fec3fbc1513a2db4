import type { Deadline } from '../../lib/deadline.js'
import { movesEther, type PlacedCall, placeCalls } from '../../store/rows/placeCalls.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'

/** A call, creation or SELFDESTRUCT below the message of a transaction that moved ether. */
export interface InternalTransfer {
  readonly block: StoredBlock
  readonly transactionHash: Uint8Array // 32
  readonly transactionIndex: number
  /** Its number among the movements of ether of the block, those of messages included. */
  readonly transferIndex: number
  /** The call; its addresses are ids of the trace index. */
  readonly placed: PlacedCall<number>
}

/** Where a page begins. */
interface TransferPlace {
  readonly blockNumber: number
  readonly transferIndex: number
}

interface PageOptions {
  /** Both inclusive. */
  readonly fromBlock: number
  readonly toBlock: number
  readonly newestFirst: boolean
  /** The first transfer of the page; undefined for the first page. */
  readonly from: TransferPlace | undefined
  /** Maximum number of transfers. */
  readonly limit: number
  /** After this deadline the page ends, with at least one block searched. */
  readonly sliceEnds: Deadline
}

/** Consecutive transfers. */
interface InternalTransferPage {
  readonly transfers: readonly InternalTransfer[]
  /** The first transfer of the next page, or a place before it; undefined at the end of the range. */
  readonly next: TransferPlace | undefined
}

/** The internal transfers from or to an account of 20 bytes, in order, from the trace index and the address index.
 *  Blocks that were not executed have none. @throws AddressIndexMissing, DeadlineExceeded */
export function readInternalTransfers(
  context: RpcContext,
  account: Uint8Array,
  { fromBlock, toBlock, newestFirst, from, limit, sliceEnds }: PageOptions,
): InternalTransferPage {
  const id = context.traceIndex.idOf(account)
  const transfers: InternalTransfer[] = []
  let next: TransferPlace | undefined
  let isFirst = true
  const first = newestFirst ? fromBlock : Math.max(from?.blockNumber ?? 0, fromBlock)
  const last = newestFirst ? Math.min(from?.blockNumber ?? toBlock, toBlock) : toBlock
  const range = { fromBlock: first, toBlock: last, newestFirst, deadline: context.deadline }
  context.appearances.search(account, range, ({ blockNumber }) => {
    if (!isFirst && sliceEnds.remainingMs() <= 0) {
      next = { blockNumber, transferIndex: newestFirst ? Number.MAX_SAFE_INTEGER : 0 }
      return false
    }
    isFirst = false
    const ofBlock = id === undefined ? [] : transfersIn(context, id, blockNumber)
    for (const transfer of newestFirst ? ofBlock.reverse() : ofBlock) {
      const { transferIndex } = transfer
      if (blockNumber === from?.blockNumber && isPassed(transferIndex, from, newestFirst)) continue
      if (transfers.length === limit) {
        next = { blockNumber, transferIndex }
        return false
      }
      transfers.push(transfer)
    }
    return true
  })
  return { transfers, next }
}

/** True if a transfer of the block where a page begins belongs to an earlier page. */
function isPassed(transferIndex: number, from: TransferPlace, newestFirst: boolean): boolean {
  return newestFirst ? transferIndex > from.transferIndex : transferIndex < from.transferIndex
}

/** The internal transfers of a block from or to an account with that id, in the order in which they began. */
function transfersIn({ chain, traceIndex }: RpcContext, id: number, blockNumber: number): InternalTransfer[] {
  const block = chain.blockByNumber(blockNumber)!
  const indexed = traceIndex.calls(block, new Set([id]))
  if (indexed === undefined) return []
  const found: InternalTransfer[] = []
  let hashes: readonly Uint8Array[] | undefined
  let transferIndex = 0
  for (const [transactionIndex, calls] of indexed.entries()) {
    for (const placed of placeCalls(calls)) {
      const { call, isReverted } = placed
      if (isReverted || !movesEther(call)) continue
      if (call.depth > 0 && (call.from === id || call.to === id)) {
        hashes ??= chain.transactionHashes(block)
        found.push({ block, transactionHash: hashes[transactionIndex], transactionIndex, transferIndex, placed })
      }
      transferIndex++
    }
  }
  return found
}
