import { UsageError } from '../lib/errors.js'
import { parseNatsTarget, readSinkFilter, readSinkSecret, type SinkSettings } from '../sinks/settings.js'
import type { Config } from './config.js'
import { isNatsUrl } from './options/replication.js'
import { readNats } from './replicationSettings.js'

/** Reads the sink from the options and their files; undefined if none. @throws UsageError */
export function readSinkSettings(config: Config, datadir: string): SinkSettings | undefined {
  const { sink, sinkSecret, sinkFilter, sinkFrom: from } = config
  if (sink === undefined) {
    const given = [
      ['--sink-secret', sinkSecret],
      ['--sink-filter', sinkFilter],
      ['--sink-from', from],
    ].find(([, value]) => value !== undefined)
    if (given !== undefined) throw new UsageError(`${given[0]} needs --sink`)
    return undefined
  }
  const filter = sinkFilter === undefined ? { blocks: false } : readSinkFilter(sinkFilter)
  if (isNatsUrl(sink)) {
    if (sinkSecret !== undefined) throw new UsageError('--sink-secret is for webhooks; NATS has --nats-credentials')
    const { server, subject } = parseNatsTarget(sink)
    return { datadir, target: { kind: 'nats', nats: readNats(config, [server]), subject }, filter, from }
  }
  if (sinkSecret === undefined) throw new UsageError('--sink of a webhook needs --sink-secret FILE')
  return { datadir, target: { kind: 'webhook', url: sink, secret: readSinkSecret(sinkSecret) }, filter, from }
}
