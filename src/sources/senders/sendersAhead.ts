import type { KnownSenders } from '../../chain/eth/block.js'
import type { RawBlock } from '../source.js'
import { countTransactions, createSenderBatch, knownSendersOf } from './senderBatch.js'
import type { SenderRecovery } from './senderRecovery.js'

// Blocks sent together, by the bytes of their items: a message takes about as long as recovering one sender.
const BATCH_BYTES = 128 * 1024
const BATCH_BLOCKS = 128
// Batches that wait. The thread needs half a second for the senders of 1 MB of transfers.
const BATCHES_AHEAD = 8
// Twice the largest block of EIP-7934. A longer list may need more memory than a helper should.
const MAX_LIST_BYTES = 16 * 1024 * 1024

/** Recovers the senders of the blocks of one source ahead: of all while the thread runs, else of those after the first
 *  `minTransactions` transactions. */
export class SendersAhead {
  readonly #recovery: SenderRecovery | undefined
  #transactions = 0

  /** @param recovery undefined: no sender is recovered ahead */
  constructor(recovery: SenderRecovery | undefined) {
    this.#recovery = recovery
  }

  /** False if no sender is recovered ahead. */
  get isActive(): boolean {
    return this.#recovery?.isActive === true
  }

  /** Begins to recover the senders of blocks. Returns those of each block, in the order of the lists, undefined for a
   *  list that cannot be read; and a promise that resolves when the thread is through with them. Undefined when none
   *  is recovered ahead.
   *  @param lists RLP of the transactions of each block */
  begin(
    lists: readonly (Uint8Array | undefined)[],
  ): { senders: (KnownSenders | undefined)[]; finished: Promise<void> } | undefined {
    if (!this.#recovery?.isActive) return undefined
    const counted = lists.map((list) => ({ list, count: countOf(list) }))
    const isDue = this.#transactions >= this.#recovery.minTransactions || this.#recovery.isRunning
    this.#transactions += counted.reduce((sum, { count }) => sum + count, 0)
    const filled = counted.filter(({ count }) => count > 0)
    if (!isDue || filled.length === 0) return undefined
    const batch = createSenderBatch(
      filled.map(({ list }) => list!),
      filled.map(({ count }) => count),
    )
    const known = knownSendersOf(batch)
    const senders = counted.map(({ count }) => (count > 0 ? known.shift() : undefined))
    return { senders, finished: this.#recovery.recover(batch) }
  }
}

function countOf(list: Uint8Array | undefined): number {
  if (list === undefined || list.length > MAX_LIST_BYTES) return 0
  return countTransactions(list) ?? 0
}

/** How the items of a source are read. */
interface ItemReader<T> {
  /** Returns the memory of an item, in bytes. */
  sizeOf(item: T): number
  /** Returns the RLP of an item's transactions; undefined: its senders are not recovered ahead. */
  transactionsOf(item: T): Uint8Array | undefined
}

/** Yields the items of a source in their order with the senders of their transactions, which are recovered while
 *  earlier items are used. What `items` throws is thrown after the items before it. */
export async function* recoverAhead<T>(
  items: AsyncIterable<T> | Iterable<T>,
  reader: ItemReader<T>,
  ahead: SendersAhead,
): AsyncGenerator<WithSenders<T>> {
  if (!ahead.isActive) {
    for await (const item of items) yield { item }
    return
  }
  const waiting: WithSenders<T>[][] = []
  try {
    for await (const batch of inBatches(items, reader)) {
      const begun = ahead.begin(batch.map(({ list }) => list))
      waiting.push(batch.map(({ item }, i) => ({ item, senders: begun?.senders[i] })))
      if (waiting.length > BATCHES_AHEAD) yield* waiting.shift()!
    }
  } catch (error) {
    yield* waiting.flat()
    throw error
  }
  yield* waiting.flat()
}

/** Yields the blocks of a source, decoded in their order, with senders recovered ahead where recovery is active. */
export function decodeItems<T>(
  items: Iterable<T>,
  reader: ItemReader<T> & { decode(item: T, senders?: KnownSenders): RawBlock },
  recovery: SenderRecovery | undefined,
): Iterable<RawBlock> | AsyncIterable<RawBlock> {
  return recovery?.isActive ? decodeAhead(items, reader, recovery) : decodeEach(items, reader)
}

function* decodeEach<T>(items: Iterable<T>, { decode }: { decode(item: T): RawBlock }): Generator<RawBlock> {
  for (const item of items) yield decode(item)
}

async function* decodeAhead<T>(
  items: Iterable<T>,
  reader: ItemReader<T> & { decode(item: T, senders?: KnownSenders): RawBlock },
  recovery: SenderRecovery,
): AsyncGenerator<RawBlock> {
  for await (const { item, senders } of recoverAhead(items, reader, new SendersAhead(recovery))) {
    yield reader.decode(item, senders)
  }
}

/** An item, and the senders of its transactions where some are recovered ahead. */
interface WithSenders<T> {
  readonly item: T
  readonly senders?: KnownSenders
}

interface Listed<T> {
  readonly item: T
  readonly list: Uint8Array | undefined
}

async function* inBatches<T>(
  items: AsyncIterable<T> | Iterable<T>,
  { sizeOf, transactionsOf }: ItemReader<T>,
): AsyncGenerator<Listed<T>[]> {
  let batch: Listed<T>[] = []
  let bytes = 0
  try {
    for await (const item of items) {
      batch.push({ item, list: transactionsOf(item) })
      bytes += sizeOf(item)
      if (bytes < BATCH_BYTES && batch.length < BATCH_BLOCKS) continue
      yield batch
      batch = []
      bytes = 0
    }
  } catch (error) {
    yield batch
    throw error
  }
  yield batch
}
