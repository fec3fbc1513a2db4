import { readFileSync } from 'node:fs'
import type { EvmKind } from '../evm/kinds.js'
import type { EvmService } from '../evm/service.js'
import { noDeadline } from '../lib/deadline.js'
import type { Logger } from '../lib/logger.js'
import { createLogSource } from '../logs/query.js'
import { createChainReader } from '../store/chainReader.js'
import { createL2Reader } from '../store/l2Reader.js'
import { type Database, openForReading, packagePath, requireCurrentSchema } from '../store/open.js'
import { createStateReads } from '../store/stateReader.js'
import { createTransactionFinder } from '../transactions/finder.js'
import type { RpcContext, RpcLimits } from './context.js'

/** A context over a connection of its own. */
export interface OpenContext {
  readonly context: RpcContext
  readonly db: Database
  close(): void
}

/** Opens the database of `datadir` read-only for one thread. The EVM, our own unless told, is loaded when it is first used
 *  (200 ms and more), so that a thread that runs no calls never has it.
 *  @throws DatabaseMissing when there is none; DatabaseOutdated when it is of an older version. */
export function openContext(options: { datadir: string; limits: RpcLimits; log: Logger; evm?: EvmKind }): OpenContext {
  const db = openForReading(options.datadir)
  try {
    requireCurrentSchema(db)
  } catch (error) {
    db.close()
    throw error
  }
  let loaded: Promise<EvmService> | undefined
  const loadEvm = () => {
    loaded ??= import('../evm/service.js').then(({ loadEvmService }) => loadEvmService(db, options.evm ?? 'cairn'))
    return loaded
  }
  const context: RpcContext = {
    chain: createChainReader(db),
    transactions: createTransactionFinder(db),
    logs: createLogSource(db),
    l2: createL2Reader(db),
    evm: {
      call: async (...request) => (await loadEvm()).call(...request),
      estimateGas: async (...request) => (await loadEvm()).estimateGas(...request),
      warm: async () => (await loadEvm()).warm(),
    },
    state: createStateReads(db),
    limits: options.limits,
    deadline: noDeadline,
    log: options.log,
    clientVersion: clientVersion(),
  }
  return { context, db, close: () => void db.close() }
}

/** As `web3_clientVersion` says it: `Cairn/v0.1.0/linux-x64/node20`. */
export function clientVersion(): string {
  const [major] = process.versions.node.split('.')
  return `Cairn/v${packageVersion()}/${process.platform}-${process.arch}/node${major}`
}

/** The version of this package. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string }).version
}
