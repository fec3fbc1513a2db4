import type { EvmService } from '../evm/calls/evmService.js'
import type { TraceService } from '../evm/tracing/traceService.js'
import { createLogIds, type LogIds } from '../index/logs/logIds.js'
import { equalBytes } from '../lib/bytes.js'
import { type CommitWatch, createCommitWatch } from '../store/commitWatch.js'
import type { Database } from '../store/database.js'
import { createValueLookup } from '../store/dictionary.js'
import { createL2Reader, type L2Reader } from '../store/l2/l2Reader.js'
import { openForReading } from '../store/open.js'
import { type AppearanceReader, createAppearanceReader } from '../store/rows/appearances.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createExportRows, type ExportRows } from '../store/rows/exportRows.js'
import { createTraceReader, type TraceReader } from '../store/rows/traceRows.js'
import type { ChainReader } from '../store/rows/types.js'
import { createRawState, type RawState } from '../store/state/rawState.js'
import { createStateReads, type StateReads } from '../store/state/stateReader.js'

/** Source of datasets: one read-only connection. */
export interface ExportSource extends ExportSelection {
  readonly db: Database
  readonly watch: CommitWatch
  readonly chain: ChainReader
  readonly rows: ExportRows
  readonly logIds: LogIds
  readonly l2: L2Reader
  readonly state: StateReads
  readonly changes: RawState
  readonly appearances: AppearanceReader
  readonly traceIndex: TraceReader
  /** Returns the address (20 bytes) of an id of the dictionary. */
  addressOf(id: number): Uint8Array
  /** Returns the service for datasets that re-execute transactions. @throws Error before `loadTraces` */
  traces(): TraceService
  loadTraces(): Promise<void>
  /** Returns the service for datasets that call contracts. @throws Error before `loadEvm` */
  evm(): EvmService
  loadEvm(): Promise<void>
  close(): void
}

/** What options select. */
export interface ExportSelection {
  /** Addresses (20 bytes) that `--address` names; undefined: all. */
  readonly addresses?: readonly Uint8Array[]
  /** Contracts (20 bytes) that `--contract` names; undefined: none. */
  readonly contracts?: readonly Uint8Array[]
  /** Calldata that `--call-data` names; undefined: none. */
  readonly callData?: readonly Uint8Array[]
}

/** True if `--address` selects one of the accounts (20 bytes each), or all. */
export function isSelected({ addresses }: ExportSelection, ...accounts: Uint8Array[]): boolean {
  return addresses === undefined || addresses.some((each) => accounts.some((account) => equalBytes(each, account)))
}

// In about 20 MB.
const MAX_ADDRESSES = 100_000

/** Opens the database of `datadir`. @throws DatabaseMissing, DatabaseOutdated */
export function openExportSource(datadir: string, selection: ExportSelection = {}): ExportSource {
  return sourceOf(openForReading(datadir), selection)
}

/** Creates a source over an open connection, which it closes. */
export function sourceOf(db: Database, selection: ExportSelection = {}): ExportSource {
  const watch = createCommitWatch(db)
  const chain = createChainReader(db, watch)
  let traces: TraceService | undefined
  let evm: EvmService | undefined
  return {
    db,
    watch,
    chain,
    rows: createExportRows(db),
    logIds: createLogIds(db, watch),
    l2: createL2Reader(db),
    state: createStateReads(db),
    changes: createRawState(db),
    appearances: createAppearanceReader(db),
    traceIndex: createTraceReader(db),
    addressOf: createValueLookup(db, 'addresses', { most: MAX_ADDRESSES }),
    traces: () => {
      if (traces === undefined) throw new Error('the trace service is not loaded')
      return traces
    },
    loadTraces: async () => {
      const { loadTraceService } = await import('../evm/tracing/traceService.js')
      traces ??= await loadTraceService(db, { chain, watch })
    },
    evm: () => {
      if (evm === undefined) throw new Error('the EVM is not loaded')
      return evm
    },
    loadEvm: async () => {
      const { loadEvmService } = await import('../evm/calls/loadEvmService.js')
      evm ??= await loadEvmService(db, 'cairn', { chain, watch })
    },
    ...selection,
    close: () => void db.close(),
  }
}
