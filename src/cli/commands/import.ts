import { basename } from 'node:path'
import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import type { ChainSource } from '../../store/rows/chainSource.js'
import type { ImportSummary } from '../../sync/import/importFiles.js'
import type { Config } from '../config.js'
import { readLogging } from '../options/output.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'
import { writeNotice } from '../terminal.js'

/** `cairn import PATH...`. SIGINT and SIGTERM end it after the current batch, with exit codes 130 and 143; imported
 *  blocks are kept. */
export async function runImport({ config, operands }: ParsedArgs): Promise<number> {
  const { datadir, network } = config
  if (config.rollupConfig !== undefined && network !== undefined) {
    throw new UsageError('--rollup-config and --network exclude each other')
  }
  if (config.genesis !== undefined && network !== undefined) {
    throw new UsageError('--genesis and --network exclude each other')
  }
  if (config.stateDump !== undefined || config.at !== undefined) return importDump(config, operands)
  const { gatherImport } = await import('../../sync/import/importDirectory.js')
  const found = gatherImport(operands)
  const { genesis, rollupConfig } = config
  const isNamed = [genesis, network, rollupConfig].some((each) => each !== undefined)
  const own = !isNamed ? found.genesis : undefined
  if (operands.length === 0 && !isNamed) {
    throw new UsageError("expected files or a directory to import; see 'cairn help import'")
  }
  const recordedState = own && found.recordedState
  if (config.state === 'sparse' && !recordedState) {
    throw new UsageError(
      '--state sparse follows an upstream, which has the state: cairn serve --state sparse --upstream URL',
    )
  }
  const { importFiles, readDirectoryChain, readGenesisFile, readRollupConfig } = await import(
    '../../sync/import/importFiles.js'
  )
  const { createL2Verifier } = await import('../../sync/thread/l2Verifier.js')
  const { SenderRecovery } = await import('../../sources/senders/senderRecovery.js')
  const { Checkpointer } = await import('../../workers/checkpointer.js')
  const log = createLogger(readLogging(config))
  const stop = listenForStop(() => writeNotice('stopping after the batch under way; a second signal ends it at once'))
  const verifier = createL2Verifier()
  const checkpointer = new Checkpointer(datadir)
  const senderRecovery = new SenderRecovery({ isEnabled: config.senderThread, log })
  try {
    const summary = await importFiles({
      datadir,
      paths: found.paths,
      chain: own
        ? readDirectoryChain({ ...found, genesis: own })
        : rollupConfig
          ? readRollupConfig(rollupConfig, genesis)
          : genesis
            ? readGenesisFile(genesis)
            : namedChain(network),
      initsGenesis: found.genesis !== undefined || operands.length === 0,
      stateMode: config.state,
      kind: config.kind,
      checkpoint: config.checkpoint,
      l2Verify: config.l2Verify ? verifier.verify : undefined,
      l2Network: config.l2Network,
      coreContract: config.l2CoreContract,
      evm: config.evm,
      forkTimes: config.fork,
      blockAccessLists: config.blockAccessLists,
      addressIndex: config.addressIndex,
      traces: config.traces,
      checkpoints: checkpointer,
      stateCacheBytes: config.stateCache * 2 ** 20,
      rootInterval: config.rootInterval,
      senderRecovery,
      recordedState,
      log,
      showProgress: true,
      signal: stop.signal,
    })
    const text = found.paths.length === 0 ? describeGenesis(summary) : formatSummary(summary)
    const { head = null, interrupted = null } = summary
    printOutcome(config, text, { ...summary, head, interrupted })
    return summary.interrupted ? stop.exitCode() : 0
  } finally {
    stop.close()
    await Promise.all([verifier.close(), senderRecovery.close(), checkpointer.close()])
  }
}

/** Imports a whole state. */
async function importDump(config: Config, operands: readonly string[]): Promise<number> {
  const { stateDump: path, at, datadir, genesis, network, state } = config
  if (path === undefined) throw new UsageError('--at needs --state-dump FILE')
  if (at === undefined) {
    throw new UsageError('--state-dump needs --at FILE: the header of the block after which the dump has the state')
  }
  if (operands.length > 0) throw new UsageError(`--state-dump imports one file; leave '${operands[0]}' out`)
  if (state !== undefined && state !== 'sparse') {
    throw new UsageError(`--state ${state}: a state dump begins a database of --state sparse`)
  }
  const { readGenesisFile } = await import('../../sync/import/importFiles.js')
  const { importDumpFile } = await import('../../sync/import/stateDumpFile.js')
  const stop = listenForStop(() => writeNotice('stopping after the batch under way; a second signal ends it at once'))
  try {
    const dump = await importDumpFile({
      ...{ datadir, path, at, forkTimes: config.fork, evm: config.evm, addressIndex: config.addressIndex },
      traces: config.traces,
      chain: genesis === undefined ? namedChain(network) : readGenesisFile(genesis),
      log: createLogger(readLogging(config)),
      showProgress: true,
      signal: stop.signal,
    })
    if (dump === undefined) {
      printOutcome(config, 'interrupted: run the same command again to resume', { stateDump: null, interrupted: true })
      return stop.exitCode()
    }
    const { accounts, slots, number } = dump
    printOutcome(
      config,
      `state after block ${number} imported: ${accounts} accounts and ${slots} slots with its state root; ` +
        `'cairn serve --upstream URL' begins there`,
      { stateDump: { number, accounts, slots }, interrupted: false },
    )
    return 0
  } finally {
    stop.close()
  }
}

function namedChain(network: Config['network']): ChainSource | undefined {
  if (network === 'dev')
    throw new UsageError('--network dev reads the genesis from --upstream, with sync and serve only')
  return network === undefined ? undefined : { network }
}

function describeGenesis({ head }: ImportSummary): string {
  return head === undefined
    ? 'no block stored: --state none stores no genesis'
    : `genesis stored; the head is block ${head}`
}

function formatSummary(summary: ImportSummary): string {
  const { blocks, skipped, head, interrupted } = summary
  const parts = [`${blocks} blocks imported, ${skipped} stored already`]
  parts.push(...formatL2Summary(summary))
  if (interrupted) {
    const { path, fileNumber, files } = interrupted
    const block = head === undefined ? '' : ` at block ${head}`
    const file = `in ${basename(path)} (file ${fileNumber} of ${files})`
    parts.push(`interrupted${block} ${file}: run the same command again to resume`)
  }
  return parts.join('; ')
}

function formatL2Summary(summary: ImportSummary): string[] {
  const { l2Blocks, l2Skipped, l2Verified, l2Unverifiable, l2Replaced } = summary
  if (l2Blocks + l2Skipped + l2Replaced === 0) return []
  const parts = [`${l2Blocks} layer-2 blocks imported`]
  if (l2Replaced > 0) parts.push(`${l2Replaced} replaced by fuller recordings`)
  parts.push(`${l2Verified} ${l2Replaced > 0 ? 'verified' : 'of them verified'}`)
  if (l2Unverifiable > 0) parts.push(`${l2Unverifiable} could not be verified`)
  return [[...parts, `${l2Skipped} stored already`].join(', ')]
}
