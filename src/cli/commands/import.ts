import { existsSync } from 'node:fs'
import type { ImportSummary } from '../../ingest/importFiles.js'
import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import type { ChainSource } from '../../store/chainSource.js'
import type { Config } from '../config.js'
import type { ParsedArgs } from '../parseArgs.js'

/** `cairn import PATH...`. SIGINT and SIGTERM end it after the batch under way; what was imported stays. */
export async function runImport({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length === 0) throw new UsageError("expected one or more files; see 'cairn help import'")
  for (const path of operands) if (!existsSync(path)) throw new UsageError(`no such file: ${path}`)
  if (config.genesis !== undefined && config.network !== undefined) {
    throw new UsageError('--genesis and --network exclude each other')
  }
  const { importFiles, readGenesisFile } = await import('../../ingest/importFiles.js')
  const { createL2Verifier } = await import('../../workers/l2Verifier.js')
  const { createCheckpointer } = await import('../../workers/checkpointer.js')
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const verifier = createL2Verifier()
  const checkpointer = createCheckpointer(config.datadir)
  try {
    const summary = await importFiles({
      datadir: config.datadir,
      paths: [...operands],
      chain: config.genesis === undefined ? namedChain(config.network) : readGenesisFile(config.genesis),
      stateMode: config.state,
      kind: config.kind,
      l2Verify: config.l2Verify ? verifier.verify : undefined,
      l2Network: config.l2Network,
      evm: config.evm,
      checkpoints: checkpointer,
      stateCacheBytes: config.stateCache * 2 ** 20,
      rootInterval: config.rootInterval,
      log: createLogger(config.logLevel),
      showProgress: true,
      signal: stop.signal,
    })
    process.stdout.write(`${formatSummary(summary)}\n`)
  } finally {
    await Promise.all([verifier.close(), checkpointer.close()])
  }
  return 0
}

function namedChain(network: Config['network']): ChainSource | undefined {
  return network === undefined ? undefined : { network }
}

function formatSummary(summary: ImportSummary): string {
  const { blocks, skipped, l2Blocks, l2Skipped, l2Verified, interrupted } = summary
  const parts = [`${blocks} blocks imported, ${skipped} held already`]
  if (l2Blocks + l2Skipped > 0) {
    parts.push(`${l2Blocks} layer-2 blocks imported, ${l2Verified} of them verified, ${l2Skipped} held already`)
  }
  if (interrupted) parts.push('interrupted: run it again to go on')
  return parts.join('; ')
}
