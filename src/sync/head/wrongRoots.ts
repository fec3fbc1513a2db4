import type { Header } from '../../chain/eth/types.js'
import { formatData } from '../../lib/hex.js'
import type { Logger } from '../../lib/logger.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_UNVERIFIED_FROM } from '../../store/meta.js'

/** Accepts wrong state roots on the chain of a development node whose own roots are wrong. From the first of them no
 *  root is compared: every later one follows from it. */
export interface WrongRoots {
  /** Stores that roots are not compared from the block on, in the caller's transaction, and logs it.
   *  @param from the first block that may be wrong; default: the block itself */
  accept(header: Header, computed: Uint8Array, from?: number): void
}

/** For a writing connection. */
export function createWrongRoots(db: Database, log: Logger): WrongRoots {
  const meta = createMetaTable(db)
  return {
    accept: ({ number, stateRoot }, computed, from = number) => {
      meta.set(META_UNVERIFIED_FROM, from)
      log.warn(
        { block: number, from, expected: formatData(computed), actual: formatData(stateRoot) },
        `the state root of the development node is wrong; state roots are not compared from block ${from} on`,
      )
    },
  }
}

/** Compares state roots again once the first block without a comparison is removed. Call it in the transaction that
 *  removes all blocks above `number`. */
export function compareRootsAbove(db: Database, number: number): void {
  const meta = createMetaTable(db)
  if ((meta.get<number | null>(META_UNVERIFIED_FROM) ?? -1) > number) meta.set(META_UNVERIFIED_FROM, null)
}
