import { closeSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ForkTimes } from '../../chain/eth/forkSchedule.js'
import type { EvmKind } from '../../evm/kinds.js'
import type { Logger } from '../../lib/logger.js'
import { createProgress, noProgress } from '../../lib/progress.js'
import { STANDARD_INPUT } from '../../sources/files/dumpText.js'
import { openFile } from '../../sources/files/fileBytes.js'
import { readHeaderFile } from '../../sources/files/headerFile.js'
import { DATABASE_FILE } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import type { ChainSource } from '../../store/rows/chainSource.js'
import type { StateDump } from '../../store/state/stateDump.js'
import { closeWritten } from '../../store/writeAheadLog.js'
import { ChainNotNamed, openWritableChain } from '../chainState.js'
import type { IndexChoices } from '../keptIndexes.js'
import { importStateDump } from '../sparse/importStateDump.js'

export interface StateDumpFileOptions extends IndexChoices {
  readonly datadir: string
  /** Of the dump; `-` for standard input. */
  readonly path: string
  /** Path of the header of its block. */
  readonly at: string
  /** Needed the first time only. */
  readonly chain: ChainSource | undefined
  readonly forkTimes?: ForkTimes
  /** The EVM that is to execute later blocks. */
  readonly evm?: EvmKind
  readonly log: Logger
  readonly showProgress: boolean
  readonly signal?: AbortSignal
}

/** Imports a state dump into the database of `datadir`, created if missing, as `importStateDump`. What can be refused
 *  before is refused before a database is created.
 *  @throws UsageError, DatabaseLocked, and as `importStateDump` */
export async function importDumpFile(options: StateDumpFileOptions): Promise<StateDump | undefined> {
  const { datadir, path, at, chain, forkTimes, evm, addressIndex, traces, log, showProgress, signal } = options
  const block = readHeaderFile(at)
  if (path !== STANDARD_INPUT) closeSync(openFile(path))
  if (chain === undefined && !existsSync(join(datadir, DATABASE_FILE))) throw new ChainNotNamed()
  const db = openForWriting(datadir)
  const progress = showProgress ? createProgress({ label: 'state dump', unit: 'accounts and slots' }) : noProgress
  try {
    const opening = { forkTimes, evm, addressIndex, traces, log, signal, completesStateDump: true }
    const openChain = () => openWritableChain(db, chain, 'sparse', opening)
    const dump = await importStateDump({ db, path, block, chain, openChain, progress, log, signal })
    progress.finish()
    return dump
  } finally {
    closeWritten(db)
  }
}
