import type { KnownSenders } from '../../chain/eth/block.js'
import { asList, decodeRlp, measureRlp, type RlpItem } from '../../chain/eth/rlp.js'
import { decodeSignedTransaction, recoverSender } from '../../chain/eth/transaction.js'

/* Senders in memory that two threads share. A helper thread recovers them, the last transaction of a block first; the
 * thread that decodes the block takes those that are finished, from the first transaction on, and recovers the others
 * itself. Neither waits for the other. */

/** Blocks whose senders are recovered: sent to the helper thread. */
export interface SenderBatch {
  /** Transactions of each block. */
  readonly counts: readonly number[]
  /** A state byte for each transaction of all blocks, its sender of 20 bytes, and the RLP of the transactions of each
   *  block. */
  readonly memory: SharedArrayBuffer
}

// States of a transaction. One that the helper cannot recover stays CLAIMED: the decoding thread finds the reason.
const FREE = 0
const CLAIMED = 1
const FINISHED = 2

// Legacy transactions have nine items each, the access lists of others are read one by one.
const MAX_ITEMS = 2 ** 20

const SENDER_BYTES = 20
const PER_TRANSACTION = 1 + SENDER_BYTES

/** Returns the number of transactions in the RLP of their list; undefined when it cannot be read. */
export function countTransactions(list: Uint8Array): number | undefined {
  try {
    const span = measureRlp(list, 0)
    if (!span?.isList || span.end !== list.length) return undefined
    let count = 0
    let at = span.payload
    for (; at < span.end; count++) at = measureRlp(list, at)?.end ?? Number.POSITIVE_INFINITY
    return at === span.end ? count : undefined
  } catch {
    return undefined
  }
}

/** Creates a batch of blocks.
 *  @param lists RLP of the transactions of each block
 *  @param counts of the lists, by `countTransactions` */
export function createSenderBatch(lists: readonly Uint8Array[], counts: readonly number[]): SenderBatch {
  const total = counts.reduce((sum, count) => sum + count, 0)
  const bytes = lists.reduce((sum, { length }) => sum + length, 0)
  const memory = new SharedArrayBuffer(total * PER_TRANSACTION + bytes)
  let at = total * PER_TRANSACTION
  for (const list of lists) {
    new Uint8Array(memory, at).set(list)
    at += list.length
  }
  return { counts, memory }
}

/** Returns the senders of each block of a batch, in its order. */
export function knownSendersOf(batch: SenderBatch): KnownSenders[] {
  const { states, senders } = viewsOf(batch)
  let next = 0
  return batch.counts.map((count) => {
    const first = next
    next += count
    return {
      take: (index) => {
        const at = first + index
        if (Atomics.exchange(states, at, CLAIMED) !== FINISHED) return undefined
        return senders.slice(at * SENDER_BYTES, (at + 1) * SENDER_BYTES)
      },
    }
  })
}

/** Recovers the senders of a batch that are not taken yet, until `isStopped` returns true. Leaves out those of invalid
 *  transactions. */
export function recoverSenders(batch: SenderBatch, isStopped: () => boolean): void {
  const { states, senders, lists } = viewsOf(batch)
  let first = 0
  let start = 0
  for (const count of batch.counts) {
    const { end } = measureRlp(lists, start)!
    const items = readItems(lists.slice(start, end))
    for (let index = items.length - 1; index >= 0 && !isStopped(); index--) {
      const at = first + index
      if (Atomics.compareExchange(states, at, FREE, CLAIMED) !== FREE) continue
      const sender = tryRecover(items[index])
      if (sender === undefined) continue
      senders.set(sender, at * SENDER_BYTES)
      Atomics.store(states, at, FINISHED)
    }
    first += count
    start = end
  }
}

/** Returns the items of a list; none when one of them cannot be read, or there are too many. */
function readItems(list: Uint8Array): RlpItem[] {
  try {
    return asList(decodeRlp(list, 'transactions', MAX_ITEMS), 'transactions')
  } catch {
    return []
  }
}

function tryRecover(item: RlpItem): Uint8Array | undefined {
  try {
    return recoverSender(decodeSignedTransaction(item))
  } catch {
    return undefined
  }
}

function viewsOf({ counts, memory }: SenderBatch) {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return {
    states: new Uint8Array(memory, 0, total),
    senders: new Uint8Array(memory, total, total * SENDER_BYTES),
    lists: new Uint8Array(memory, total * PER_TRANSACTION),
  }
}
