import { DEFAULT_REPLICATION_LIMITS } from '../../server/replication/replicationLimits.js'
import type { Option } from './option.js'
import { flag, maybeText, number } from './rows.js'

/** Options under the heading "Replication". */
export const replicationOptions = {
  replica: maybeText(
    'replica',
    'URL',
    ['serve'],
    'Apply the blocks of another server, without executing them, instead of following upstreams: http://HOST/KEY of one that runs with ' +
      '--replication. A new database needs --network or --genesis.',
    'none',
  ),
  replication: flag(
    'replication',
    ['serve'],
    'Serve blocks with their state changes to replicas at GET /replication/<API_KEY>.',
  ),
  replicationStreams: number('replication-streams', 'N', DEFAULT_REPLICATION_LIMITS.streams, ['serve'], {
    min: 1,
    max: 1000,
    doc: 'Replicas at /replication at a time; further ones get 503.',
  }),
} as const satisfies { [key: string]: Option<unknown> }
