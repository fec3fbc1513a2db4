import { UsageError } from '../../lib/errors.js'
import { createLogger } from '../../lib/logger.js'
import { createProgress } from '../../lib/progress.js'
import { packageVersion } from '../../store/packageVersion.js'
import type { FixtureManifest } from '../../sync/import/recordedFixture.js'
import { readLogging } from '../options/output.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printOutcome } from '../standardStreams.js'
import { listenForStop } from '../stopSignal.js'
import { writeNotice } from '../terminal.js'

/** `cairn record`. SIGINT and SIGTERM end it with exit codes 130 and 143, and leave no files. */
export async function runRecord({ config, operands }: ParsedArgs): Promise<number> {
  const { upstream, upstreamHeader, blockRange = {}, out, genesis } = config
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help record'`)
  if (upstream.length !== 1) throw new UsageError('--upstream URL is needed, of one node')
  if (out === undefined) throw new UsageError('--out DIR is needed')
  const { recordFixture } = await import('../../record/recordFixture.js')
  const { readGenesisFile } = await import('../../sync/import/importFiles.js')
  const stop = listenForStop(() => writeNotice('stopping'))
  try {
    const manifest = await recordFixture({
      upstream: {
        url: upstream[0],
        headers: Object.fromEntries(upstreamHeader.map(({ name, value }) => [name, value])),
      },
      from: blockRange.from ?? 0,
      to: blockRange.to,
      out,
      genesis: genesis === undefined ? undefined : readGenesisFile(genesis).genesis,
      stateFetch: config.stateFetch ?? 'auto',
      program: `cairn ${packageVersion()}`,
      log: createLogger(readLogging(config)),
      startProgress: (label, unit, total) => createProgress({ label, unit, total }),
      signal: stop.signal,
    })
    printOutcome(config, describe(manifest, out), { out, ...manifest })
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode()
    throw error
  } finally {
    stop.close()
  }
}

function describe({ blocks, verified, unchecked, state, client }: FixtureManifest, out: string): string {
  const checks = verified ? 'verified' : `not verified (not compared: ${unchecked.join(', ')})`
  return `${out}: blocks ${blocks.from} to ${blocks.to} of ${client}, ${state} state, ${checks}`
}
