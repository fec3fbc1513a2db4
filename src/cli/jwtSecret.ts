import { UsageError } from '../lib/errors.js'
import { parseHex } from '../lib/hex.js'
import { MAX_SECRET_FILE_BYTES, readOptionText } from '../lib/optionFile.js'
import type { Config } from './config.js'
import type { ServingOptions } from './serving/options.js'

/** Returns where the Engine API is served, with its secret; undefined without `--engine`. @throws UsageError for
 *  options that do not go together, and for a file that cannot be read or has no secret; its content is never shown */
export function readEngineOptions(config: Config): ServingOptions['engine'] {
  const { engineApi: engine, jwtSecret } = config
  if (engine === undefined) {
    if (jwtSecret !== undefined) throw new UsageError('--jwt-secret needs --engine PORT')
    return undefined
  }
  if (jwtSecret === undefined) {
    throw new UsageError("--engine needs --jwt-secret FILE; make one with 'openssl rand -hex 32 > FILE'")
  }
  const excluded = [
    config.l2Upstream.length + config.l2Feeder.length > 0 && '--l2-upstream and --l2-feeder',
    config.replica.length + config.publish.length > 0 && '--replica and --publish',
    config.network === 'dev' && '--network dev',
    config.pending && '--pending',
    config.from !== undefined && '--from',
    config.fixture !== undefined && '--fixture',
  ].find((each) => each !== false)
  if (excluded !== undefined) throw new UsageError(`--engine excludes ${excluded}`)
  return { ...engine, secret: readSecret(jwtSecret) }
}

function readSecret(path: string): Uint8Array {
  const text = readOptionText('--jwt-secret', path, MAX_SECRET_FILE_BYTES).trim()
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return parseHex(text.startsWith('0x') ? text : `0x${text}`)
  throw new UsageError(`--jwt-secret ${path}: expected 32 bytes as hex; make one with 'openssl rand -hex 32'`)
}
