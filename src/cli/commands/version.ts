import { UsageError } from '../../lib/errors.js'
import { packageVersion } from '../../store/packageVersion.js'
import type { ParsedArgs } from '../parseArgs.js'
import { printResult } from '../standardStreams.js'

/** `cairn version`: prints the version of the package; with `--json` also those of Node and the platform. */
export async function runVersion({ config, operands }: ParsedArgs): Promise<number> {
  if (operands.length > 0) throw new UsageError(`unexpected operand '${operands[0]}'; see 'cairn help version'`)
  const { platform, arch, versions } = process
  const facts = { version: packageVersion(), node: versions.node, platform: `${platform}-${arch}` }
  await printResult(config.json ? JSON.stringify(facts) : facts.version)
  return 0
}
