import type { L2Block } from '../../chain/starknet/types.js'
import type { Database } from '../database.js'
import { ANY_EVENT, encodeEvents, matchEvents, termsOf } from './eventCodec.js'

/** Writes the events of canonical blocks and their index. Everything runs in the caller's transaction. */
interface L2EventWriter {
  /** Stores the events of a newly canonical block, replacing those of that number. False if its recording lacks
   *  them. */
  put(block: L2Block): boolean
  /** Removes the events of the blocks above `number`. */
  removeAbove(number: number): void
}

/** The encoded events of a block; undefined when its recording lacks them. */
export function eventsOf({ transactionHashes, receipts }: L2Block): Uint8Array | undefined {
  if (transactionHashes.length === 0) return encodeEvents([])
  return receipts && encodeEvents(receipts)
}

/** Creates a writer over a database opened for writing. */
export function createL2EventWriter(db: Database): L2EventWriter {
  const insert = db.prepare('INSERT INTO l2_events (number, events) VALUES (?, ?)')
  const insertTerm = db.prepare('INSERT INTO l2_event_terms (term, number) VALUES (?, ?)')
  const select = db.prepare<[number], Uint8Array | null>('SELECT events FROM l2_events WHERE number = ?').pluck()
  const selectAbove = db.prepare<[number], number>('SELECT number FROM l2_events WHERE number > ?').pluck()
  const remove = db.prepare('DELETE FROM l2_events WHERE number = ?')
  const removeTerm = db.prepare('DELETE FROM l2_event_terms WHERE term = ? AND number = ?')

  const removeAt = (number: number) => {
    const events = select.get(number)
    if (events) for (const term of termsOf(matchEvents(events, ANY_EVENT))) removeTerm.run(term, number)
    remove.run(number)
  }
  return {
    put: (block) => {
      const number = block.number!
      removeAt(number)
      const events = eventsOf(block)
      insert.run(number, events ?? null)
      if (events === undefined) return false
      const terms = termsOf((block.receipts ?? []).flatMap((receipt) => receipt.events!))
      // In the order of the index: a third less time.
      for (const term of Float64Array.from(terms).sort()) insertTerm.run(term, number)
      return true
    },
    removeAbove: (number) => {
      for (const each of selectAbove.all(number)) removeAt(each)
    },
  }
}
