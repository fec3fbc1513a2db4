import { type Decoder, openDecoder } from '../decoding/decoder.js'
import { createImplementationReader } from '../decoding/proxies.js'
import { type CommitWatch, createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import type { ChainReader } from '../store/rows/types.js'
import { createStateReads, type StateReads } from '../store/state/stateReader.js'

/** What the functions of a query read: a connection runs no other statement during a query. */
export interface ChainConnection {
  readonly db: Database
  readonly watch: CommitWatch
  readonly chain: ChainReader
  readonly state: StateReads
  /** Decodes with the ABIs and signatures of the database, those of a proxy's implementation included. */
  decoder(): Decoder
}

/** A connection that is opened when it is first asked for. */
export interface LazyChainConnection {
  /** @throws DatabaseMissing, DatabaseOutdated */
  get(): ChainConnection
  close(): void
}

/** Returns a connection to the database of `datadir`, which is not opened yet. */
export function createChainConnection(datadir: string): LazyChainConnection {
  let opened: ChainConnection | undefined
  return {
    get: () => {
      opened ??= open(datadir)
      return opened
    },
    close: () => {
      opened?.db.close()
      opened = undefined
    },
  }
}

function open(datadir: string): ChainConnection {
  const db = openForReading(datadir)
  const watch = createCommitWatch(db)
  const chain = createChainReader(db, watch)
  const state = createStateReads(db)
  return { db, watch, chain, state, decoder: openDecoder(db, createImplementationReader(chain, state)) }
}
