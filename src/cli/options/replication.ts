import { UsageError } from '../../lib/errors.js'
import { DEFAULT_REPLICATION_LIMITS } from '../../replication/http/replicationLimits.js'
import type { Option } from './option.js'
import { flag, maybeNumber, maybeText, number } from './rows.js'

/** Options under the heading "Replication". */
export const replicationOptions = {
  publish: {
    flag: 'publish',
    placeholder: 'nats://HOST:PORT',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'Publish the chain to a NATS JetStream, as its one writer: the blocks of --upstream, or those of cairn import beside it. Servers of one ' +
      'cluster, separated by commas, or given more than once; tls:// for TLS. While another process is the writer, this one applies ' +
      'its blocks.',
    commands: ['serve'],
    parse: parseServers('publish'),
  },
  replica: {
    flag: 'replica',
    placeholder: 'URL',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'Apply the blocks of another server, without executing them, instead of following upstreams: nats://HOST:PORT of the JetStream that it ' +
      'publishes to, as --publish takes them, or http://HOST/KEY of one that runs with --replication. A new database needs --network or ' +
      '--genesis.',
    commands: ['serve'],
    parse: parseSources('replica'),
  },
  replicaHttp: maybeText(
    'replica-http',
    'URL',
    ['serve'],
    'With nats://: http://HOST/KEY of a server that runs with --replication, which gives the blocks that the stream does not hold any more.',
    'none',
  ),
  standby: flag(
    'standby',
    ['serve'],
    'With --replica nats://: take over as the writer when no server is; then follow --upstream and publish the chain.',
  ),
  natsCredentials: maybeText(
    'nats-credentials',
    'FILE',
    ['serve'],
    'Credentials for NATS: a .creds file, or the seed of an NKEY user (SU...).',
    'none',
  ),
  natsCa: maybeText(
    'nats-ca',
    'FILE',
    ['serve'],
    'Certificates (PEM) of the authorities that vouch for the NATS servers.',
    'those of the system',
  ),
  streamReplicas: number('stream-replicas', 'N', 1, ['serve'], {
    min: 1,
    max: 5,
    doc: 'Servers that store the stream, when --publish makes it: 3 in a cluster of three.',
  }),
  streamMaxAge: number('stream-max-age', 'HOURS', 168, ['serve'], {
    min: 1,
    max: 87_600,
    unit: 'hours',
    doc: 'How long the stream keeps a block, when --publish makes it. A replica that was away for longer needs --replica-http.',
  }),
  streamMaxSize: maybeNumber('stream-max-size', 'MIB', ['serve'], {
    min: 1,
    max: 1_000_000_000,
    unit: 'MiB',
    doc: 'Most that the stream keeps, when --publish makes it: the oldest blocks make room.',
    defaultText: 'no limit',
  }),
  publishBlocks: number('publish-blocks', 'N', 10_000, ['serve'], {
    min: 1,
    max: 100_000_000,
    unit: 'blocks',
    doc: 'How many blocks below the head an empty stream begins.',
  }),
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

/** Returns true for the URL of a NATS server. */
export function isNatsUrl(text: string): boolean {
  return /^(nats|tls):\/\//i.test(text)
}

/** Returns a parser of one or more URLs separated by commas or white space. The parser throws UsageError. */
function parseSources(flag: string) {
  return (value: string): readonly string[] => {
    const words = value.split(/[\s,]+/).filter((word) => word !== '')
    if (words.length === 0) throw new UsageError(`--${flag} needs a value`)
    for (const word of words) if (isNatsUrl(word)) requireServer(flag, word)
    return words
  }
}

/** Like `parseSources`, but accepts only NATS servers. */
function parseServers(flag: string) {
  const parse = parseSources(flag)
  return (value: string): readonly string[] => {
    const words = parse(value)
    if (words.every(isNatsUrl)) return words
    throw new UsageError(`--${flag}: expected nats://HOST:PORT or tls://HOST:PORT, got something else`)
  }
}

/** @throws UsageError, which never shows the URL: it may contain a password */
function requireServer(flag: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search !== '') {
    throw new UsageError(`--${flag}: expected nats://HOST:PORT or tls://HOST:PORT, got something else`)
  }
}
