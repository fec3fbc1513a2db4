import { equalBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'
import { createIdLookup, createValueLookup, dictionaryOf } from '../dictionary.js'
import { createBlockAddressIds } from './blockAddressIds.js'
import { type CallTrace, callsMention, decodeCallTraces, encodeCallTraces } from './callTraces.js'
import type { StoredBlock } from './types.js'

/** The trace index does not reach the head: it was left out. */
export class TraceIndexMissing extends CairnError {
  /** @param last number of the last block in the index; undefined if it has none */
  constructor(last: number | undefined, head: number | undefined) {
    super(describeMissingTraces(last, head))
  }
}

/** Says how far the trace index reaches, and how to complete it. */
export function describeMissingTraces(last: number | undefined, head: number | undefined): string {
  const reach =
    last === undefined ? 'the database has no trace index' : `the trace index ends at block ${last} of ${head}`
  return `${reach}; 'cairn reindex --traces' makes it`
}

/** Writes the calls of blocks. Writes join the caller's transaction. */
export interface TraceWriter {
  /** Stores the calls of the transactions of the block after the last one that has a row; undefined: it was not
   *  executed, and its calls are not known. */
  put(blockNumber: number, transactions: readonly (readonly CallTrace[])[] | undefined): void
}

/** Creates a writer over a database opened for writing. */
export function createTraceWriter(db: Database): TraceWriter {
  const insert = db.prepare('INSERT INTO traces (block_number, data) VALUES (?, ?)')
  const dictionary = dictionaryOf(db, 'addresses')
  return {
    put: (blockNumber, transactions = []) => {
      const { idOf, addressOf } = createBlockAddressIds(dictionary)
      const withIds = transactions.map((calls) =>
        calls.map((call) => ({ ...call, from: idOf(call.from), to: idOf(call.to) })),
      )
      insert.run(blockNumber, encodeCallTraces(withIds, addressOf))
    },
  }
}

/** The parts of a block by which its calls are found. */
export type TracedBlock = Pick<StoredBlock, 'hash' | 'txCount'> & { readonly header: { readonly number: number } }

/** Reads the trace index of an open database. */
export interface TraceReader {
  /** Number of the last block that has a row; undefined if none has. */
  lastBlock(): number | undefined
  /** Number of the newest stored block; undefined if the chain is empty. */
  head(): number | undefined
  /** True if every stored block has a row, and there is one. */
  isComplete(): boolean
  /** @throws TraceIndexMissing unless every stored block has a row */
  requireComplete(): void
  /** The calls of each transaction of a canonical block, in the order in which they began. Undefined for a block that
   *  the index does not have, was not executed, or is not canonical any more. With `ids`, an empty list if no call is
   *  from or to one of them. */
  calls(block: TracedBlock, ids?: ReadonlySet<number>): readonly (readonly CallTrace<number>[])[] | undefined
  /** The id of an address of 20 bytes; undefined for one that no call and nothing else has. */
  idOf(address: Uint8Array): number | undefined
  /** The address of an id, 20 bytes. @throws Error for an unknown id */
  addressOf(id: number): Uint8Array
}

// In about 20 MB.
const MAX_ADDRESSES = 100_000

/** Creates a reader with statements prepared once for the connection. */
export function createTraceReader(db: Database): TraceReader {
  const selectLast = db.prepare<[], number | null>('SELECT max(block_number) FROM traces').pluck()
  const selectHead = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck()
  // One statement, so that the row is that of the block with this hash.
  const select = db.prepare<[number], { data: Uint8Array; hash: Uint8Array }>(
    'SELECT r.data, b.hash FROM traces r JOIN blocks b ON b.number = r.block_number WHERE r.block_number = ?',
  )
  const lastBlock = () => selectLast.get() ?? undefined
  const head = () => selectHead.get() ?? undefined
  const isComplete = () => {
    const last = lastBlock()
    return last !== undefined && last === head()
  }
  return {
    lastBlock,
    head,
    isComplete,
    requireComplete: () => {
      if (!isComplete()) throw new TraceIndexMissing(lastBlock(), head())
    },
    calls: ({ header, hash, txCount }, ids) => {
      const row = select.get(header.number)
      if (row === undefined || !equalBytes(row.hash, hash)) return undefined
      if (row.data.length === 0) return txCount === 0 ? [] : undefined
      return ids === undefined || callsMention(row.data, ids) ? decodeCallTraces(row.data) : []
    },
    idOf: createIdLookup(db, 'addresses'),
    addressOf: createValueLookup(db, 'addresses', { most: MAX_ADDRESSES }),
  }
}
