import { CairnError } from '../../lib/errors.js'
import type { Database } from '../database.js'
import { createValueLookup, dictionaryOf } from '../dictionary.js'
import { type CallTrace, callsMention, decodeCallTraces, encodeCallTraces } from './callTraces.js'

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
      const addressOf = new Map<number, Uint8Array>()
      const known = new Map<Uint8Array, number>() // by identity: a writer's block shares equal addresses
      const idOf = (address: Uint8Array) => {
        let id = known.get(address)
        if (id === undefined) {
          id = dictionary.idOf(address)
          known.set(address, id)
          addressOf.set(id, address)
        }
        return id
      }
      const withIds = transactions.map((calls) =>
        calls.map((call) => ({ ...call, from: idOf(call.from), to: idOf(call.to) })),
      )
      insert.run(
        blockNumber,
        encodeCallTraces(withIds, (id) => addressOf.get(id)!),
      )
    },
  }
}

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
  /** True if the calls of the block are in the index, for a block with that many transactions: false for one without a
   *  row, and one that was not executed. */
  has(blockNumber: number, transactionCount: number): boolean
  /** The calls of each transaction of a block that the index has, in the order in which they began; undefined for one
   *  without a row. With `ids`, undefined too if no call is from or to one of them. */
  calls(blockNumber: number, ids?: ReadonlySet<number>): readonly (readonly CallTrace<number>[])[] | undefined
  /** The address of an id, 20 bytes. @throws Error for an unknown id */
  addressOf(id: number): Uint8Array
}

// In about 20 MB.
const MAX_ADDRESSES = 100_000

/** Creates a reader with statements prepared once for the connection. */
export function createTraceReader(db: Database): TraceReader {
  const selectLast = db.prepare<[], number | null>('SELECT max(block_number) FROM traces').pluck()
  const selectHead = db.prepare<[], number | null>('SELECT max(number) FROM blocks').pluck()
  const selectData = db.prepare<[number], Uint8Array>('SELECT data FROM traces WHERE block_number = ?').pluck()
  const selectLength = db.prepare<[number], number>('SELECT length(data) FROM traces WHERE block_number = ?').pluck()
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
    has: (blockNumber, transactionCount) => {
      const length = selectLength.get(blockNumber)
      return length !== undefined && (length > 0 || transactionCount === 0)
    },
    calls: (blockNumber, ids) => {
      const data = selectData.get(blockNumber)
      if (data === undefined || (ids !== undefined && !callsMention(data, ids))) return undefined
      return decodeCallTraces(data)
    },
    addressOf: createValueLookup(db, 'addresses', { most: MAX_ADDRESSES }),
  }
}
