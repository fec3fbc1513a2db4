import type { Network } from '../chain/eth/genesis.js'
import { L2_NETWORK_NAMES } from '../chain/starknet/networks.js'
import { EVM_KINDS, type EvmKind } from '../evm/kinds.js'
import type { FileKind } from '../ingest/importFiles.js'
import { UsageError } from '../lib/errors.js'
import { LOG_LEVELS, type LogLevel } from '../lib/logger.js'
import { didYouMean } from '../lib/suggestion.js'
import { PENDING_BLOCK_FORMS, type PendingBlockForm } from '../rpc/core/context.js'
import { DEFAULT_LIMITS } from '../rpc/core/limits.js'
import { DEFAULT_SUBSCRIPTION_LIMITS } from '../rpc/subscriptions/limits.js'
import { COMPRESS_MODES, type CompressMode } from '../server/http/compression.js'
import { DEFAULT_SERVER_LIMITS } from '../server/limits/limits.js'

// As in `ingest/importFiles`, which is too large to load for `--help`; the type checks that they agree.
const FILE_KINDS = ['chain-rlp', 'era1', 'starknet'] as const satisfies readonly FileKind[]

/** The commands of `cairn`. */
export const COMMANDS = [
  'import',
  'sync',
  'serve',
  'keys',
  'status',
  'explain-logs',
  'verify',
  'reindex',
  'rewind',
  'version',
  'help',
] as const
export type Command = (typeof COMMANDS)[number]

/** An option: a row of the configuration table. Parsing, help and the reference page are generated from it. */
export interface Option<T> {
  /** `--flag`; its environment variable is `CAIRN_FLAG`. */
  readonly flag: string
  /** The value's name in help; undefined for a flag without one. */
  readonly placeholder?: string
  readonly default: T
  /** The default in words, or what happens without a value. */
  readonly defaultText?: string
  readonly unit?: string
  readonly doc: string
  readonly commands: readonly Command[]
  /** True for an option that may be given more than once; its values are lists, which are put together. */
  readonly repeatable?: boolean
  /** @throws UsageError saying what would work. */
  parse(text: string): T
}

/** All options. */
export const OPTIONS = {
  datadir: text(
    'datadir',
    'DIR',
    './data',
    ['import', 'sync', 'serve', 'keys', 'status', 'explain-logs', 'verify', 'reindex', 'rewind'],
    'Directory of the database.',
  ),
  genesis: maybeText(
    'genesis',
    'FILE',
    ['import', 'sync', 'serve'],
    "Genesis file in geth's format, for a custom chain.",
    'none',
  ),
  network: choice(
    'network',
    ['mainnet', 'sepolia', 'holesky', 'hoodi'] as const satisfies Network[],
    ['import', 'sync', 'serve'],
    'Built-in network: its genesis and its fork schedule.',
  ),
  upstream: {
    flag: 'upstream',
    placeholder: 'URL',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'Node to follow: its http, https, ws or wss URL. May be given more than once: the healthiest is asked, the others when it ' +
      'fails. The environment variable takes several URLs separated by spaces, and keeps keys out of the process list.',
    commands: ['sync', 'serve'],
    parse: parseWords('upstream'),
  },
  upstreamHeader: {
    flag: 'upstream-header',
    placeholder: "'NAME: VALUE'",
    default: [] as readonly UpstreamHeaderLine[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'HTTP header sent to every upstream, such as a token. May be given more than once; one a line in the environment ' +
      'variable.',
    commands: ['sync', 'serve'],
    parse: parseHeaderLines,
  },
  state: choice(
    'state',
    ['execute', 'none'] as const,
    ['import', 'sync', 'serve'],
    'execute: execute blocks and keep the state; none: take the receipts of the file or of the upstream.',
    'the mode of the database; execute for a new one',
  ),
  evm: {
    flag: 'evm',
    placeholder: EVM_KINDS.join('|'),
    default: 'cairn' as EvmKind,
    doc:
      "The interpreter for blocks and calls: Cairn's own, or that of @ethereumjs, which is many times slower and meant " +
      'for comparison.',
    commands: ['import', 'sync', 'serve'],
    parse: oneOf('evm', EVM_KINDS),
  },
  kind: choice(
    'kind',
    FILE_KINDS,
    ['import'],
    'Format of the files, instead of detecting it from their content.',
    'detected',
  ),
  l2Verify: {
    flag: 'l2-verify',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc: 'Recompute the hashes of layer-2 blocks.',
    commands: ['import', 'serve'],
    parse: parseSwitch('l2-verify'),
  },
  l2Network: choice(
    'l2-network',
    L2_NETWORK_NAMES,
    ['import', 'serve'],
    'Network of the layer-2 blocks.',
    'detected from their hashes',
  ),
  stateCache: number('state-cache', 'MIB', 256, ['import', 'sync', 'serve'], {
    min: 4,
    max: 1_048_576,
    unit: 'MiB',
    doc: 'Memory for the newest state during execution: half for the trie, half for accounts, slots and code.',
  }),
  rootInterval: number('root-interval', 'N', 0, ['import', 'sync', 'serve'], {
    min: 0,
    max: 10_000,
    unit: 'blocks',
    doc:
      'Blocks between two checks of the state root; after a mismatch the blocks between are checked one by one. ' +
      '0: every block; with 250,000 accounts or more every 64th while that many are to come.',
  }),
  fixture: maybeText(
    'fixture',
    'DIR',
    ['serve'],
    'Import DIR into a temporary database and serve it without a key; DIR needs a genesis.json.',
    'none',
  ),
  host: text('host', 'HOST', '127.0.0.1', ['serve'], 'Address to listen on.'),
  port: number('port', 'PORT', 8545, ['serve'], { min: 0, max: 65_535, doc: 'Port to listen on; 0 picks a free one.' }),
  open: flag('open', ['serve'], 'Serve without an API key.'),
  cors: maybeText(
    'cors',
    'ORIGINS',
    ['serve'],
    'Origins of web pages that may read responses (CORS), comma-separated; * allows all.',
    'localhost and loopback addresses if open on loopback, else none',
  ),
  plainHttp: {
    flag: 'plain-http',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      "Read plain POSTs straight from the socket, which raises the rate of small calls; off leaves every request to Node's " +
      'HTTP parser.',
    commands: ['serve'],
    parse: parseSwitch('plain-http'),
  },
  metrics: flag(
    'metrics',
    ['serve'],
    'Serve Prometheus metrics at /metrics of the port for calls; no key is asked for.',
  ),
  metricsPort: maybeNumber('metrics-port', 'PORT', ['serve'], {
    min: 0,
    max: 65_535,
    doc: 'Port of its own for /metrics, /health and /ready; 0 takes a free one.',
    defaultText: 'none',
  }),
  metricsHost: text('metrics-host', 'HOST', '127.0.0.1', ['serve'], 'Address to listen on for --metrics-port.'),
  allowedHosts: maybeText(
    'allowed-hosts',
    'NAMES',
    ['serve'],
    'Accepted Host headers besides localhost, loopback addresses and --host, comma-separated; * accepts all.',
    'none on loopback, else all',
  ),
  rateLimit: number('rate-limit', 'RPS', 0, ['serve'], {
    min: 0,
    max: 1_000_000,
    unit: 'calls per second',
    doc: 'Requests per second and key; each request of a batch counts; 0: no limit.',
  }),
  maxConnections: maybeNumber('max-connections', 'N', ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most open connections, HTTP and WebSocket together; beyond it, the longest idle one is closed, or the new one gets 503.',
    defaultText: '10,000, at most the open-file limit less 500',
  }),
  maxInFlight: number('max-in-flight', 'N', DEFAULT_SERVER_LIMITS.maxInFlight, ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most concurrent requests per key, or per address without keys; a batch is one request. Further ones get 429.',
  }),
  bodyMemory: number('body-memory', 'MB', DEFAULT_SERVER_LIMITS.bodyBytes / 1e6, ['serve'], {
    min: 16,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for request bodies being received, queued or processed; beyond it, requests get 503.',
  }),
  outputMemory: number('output-memory', 'MB', DEFAULT_SERVER_LIMITS.outputBytes / 1e6, ['serve'], {
    min: 64,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for responses that clients have not read yet; beyond it, requests wait, then get 503.',
  }),
  maxSubscriptions: number('max-subscriptions', 'N', DEFAULT_SUBSCRIPTION_LIMITS.connectionSubscriptions, ['serve'], {
    min: 1,
    max: 100_000,
    doc: 'Most subscriptions per WebSocket connection.',
  }),
  maxKeySubscriptions: number(
    'max-key-subscriptions',
    'N',
    DEFAULT_SUBSCRIPTION_LIMITS.clientSubscriptions,
    ['serve'],
    { min: 1, max: 1_000_000, doc: 'Most subscriptions per key, or per address without keys.' },
  ),
  subscriptionQueue: number('subscription-queue', 'MB', DEFAULT_SERVER_LIMITS.notificationBytes / 1e6, ['serve'], {
    min: 1,
    max: 65_536,
    unit: 'MB',
    doc: 'Notifications that a WebSocket client may leave unread; beyond it, its connection is closed.',
  }),
  maxFilters: number('max-filters', 'N', DEFAULT_SUBSCRIPTION_LIMITS.filters, ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most filters (eth_newFilter) per key, or per address without keys.',
  }),
  filterMemory: number('filter-memory', 'MB', DEFAULT_SUBSCRIPTION_LIMITS.filterBytes / 1e6, ['serve'], {
    min: 1,
    max: DEFAULT_SUBSCRIPTION_LIMITS.totalFilterBytes / 1e6,
    unit: 'MB',
    doc: 'Memory for the filters of a key, or of an address without keys; a filter that exceeds it is removed.',
  }),
  filterTimeout: number('filter-timeout', 'SECONDS', DEFAULT_SUBSCRIPTION_LIMITS.filterTimeoutMs / 1e3, ['serve'], {
    min: 1,
    max: 86_400,
    unit: 'seconds',
    doc: 'A filter that is not polled for so long is removed.',
  }),
  scanThreads: maybeNumber('scan-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Reader threads for log queries.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  evmThreads: maybeNumber('evm-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Reader threads for calls; one more is kept as a spare.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  logsTimeout: number('logs-timeout', 'MS', DEFAULT_LIMITS.logsTimeoutMs, ['serve', 'explain-logs'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Timeout of a log query.',
  }),
  slowLogs: number('slow-logs', 'MS', DEFAULT_LIMITS.slowLogsMs, ['serve'], {
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Log queries that take at least this long are logged with their trace and advice; 0: never.',
  }),
  callTimeout: number('call-timeout', 'MS', DEFAULT_LIMITS.callTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Timeout of a call.',
  }),
  queueTimeout: number('queue-timeout', 'MS', DEFAULT_LIMITS.queueTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Longest wait of a log query or call for a thread; then it is refused.',
  }),
  maxLogs: number('max-logs', 'N', DEFAULT_LIMITS.maxLogs, ['serve', 'explain-logs'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most logs that a query may return.',
  }),
  maxFilterParams: number('max-filter-params', 'N', DEFAULT_LIMITS.maxFilterParams, ['serve', 'explain-logs'], {
    min: 1,
    max: 100_000,
    doc: 'Most addresses and topic values in one filter.',
  }),
  gasCap: number('gas-cap', 'PERCENT', DEFAULT_LIMITS.gasCapPercent, ['serve'], {
    min: 1,
    max: 100_000,
    unit: 'percent',
    doc: "Cap of a call's gas, relative to the block's gas limit.",
  }),
  maxCallGas: number('max-call-gas', 'MGAS', DEFAULT_LIMITS.maxCallGas / 1e6, ['serve'], {
    min: 1,
    max: 1_000_000,
    unit: 'million gas',
    doc: "Absolute cap of a call's gas; the smaller of this and --gas-cap applies.",
  }),
  callMemory: number('call-memory', 'MIB', DEFAULT_LIMITS.callMemoryBytes / 2 ** 20, ['serve'], {
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    doc:
      'Memory of one call: its frames, return data, output, and the state it reads and changes. Each thread runs one ' +
      'call at a time.',
  }),
  maxReturnData: number('max-return-data', 'BYTES', DEFAULT_LIMITS.maxReturnBytes, ['serve'], {
    min: 1,
    max: 100_000_000,
    unit: 'bytes',
    doc: 'Longest data that a call may return or revert with.',
  }),
  pendingBlock: {
    flag: 'pending-block',
    placeholder: PENDING_BLOCK_FORMS.join('|'),
    default: 'specification' as PendingBlockForm,
    doc:
      'How eth_getBlockByNumber shows the pending block: with null number and logsBloom (the API specification), or with ' +
      'its number and a zero logsBloom (geth), which ethers and cast need.',
    commands: ['serve'],
    parse: oneOf('pending-block', PENDING_BLOCK_FORMS),
  },
  responseCache: number('response-cache', 'MIB', 64, ['serve'], {
    min: 0,
    max: 65_536,
    unit: 'MiB',
    doc: 'Memory of the response cache for log queries and calls, errors included; 0 disables it.',
  }),
  inlineCalls: {
    flag: 'inline-calls',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Run small calls on the main thread, which is several times as fast; longer ones are rerun in a reader thread. ' +
      'Not with --evm reference.',
    commands: ['serve'],
    parse: parseSwitch('inline-calls'),
  },
  compress: {
    flag: 'compress',
    placeholder: COMPRESS_MODES.join('|'),
    default: 'auto' as CompressMode,
    doc:
      'Compress HTTP responses with brotli or gzip; auto: not for clients on this machine, where it takes longer. Set on ' +
      'behind a local proxy that forwards Accept-Encoding.',
    commands: ['serve'],
    parse: oneOf('compress', COMPRESS_MODES),
  },
  compressAbove: number('compress-above', 'KIB', 64, ['serve'], {
    min: 0,
    max: 1_048_576,
    unit: 'KiB',
    doc: 'Responses up to this size are not compressed.',
  }),
  logLevel: {
    flag: 'log-level',
    placeholder: 'LEVEL',
    default: 'info' as LogLevel,
    doc: `Log level on standard error: ${LOG_LEVELS.join(', ')}.`,
    commands: ['import', 'sync', 'serve'],
    parse: oneOf('log-level', LOG_LEVELS),
  },
  file: flag(
    'file',
    ['verify'],
    "Verify the file: SQLite's integrity check, the schema, and the sealed rows (meta, API keys).",
  ),
  blocks: flag('blocks', ['verify'], 'Verify blocks: recompute hashes, roots, blooms and senders from the rows.'),
  stateHistory: flag(
    'state-history',
    ['verify'],
    'Verify the state: replay its history and compare every state root; code hashes; the stored trie.',
  ),
  index: flag('index', ['verify'], 'Verify the log and transaction indexes against the rows.'),
  l2: flag('l2', ['verify'], 'Verify layer-2 blocks against their recordings.'),
  from: maybeNumber('from', 'NUMBER', ['verify', 'sync', 'serve'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'verify: first block to verify. sync, serve: first block of a new database without state.',
    defaultText: 'the first block',
  }),
  to: maybeNumber('to', 'NUMBER', ['verify', 'rewind'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'verify: last block to verify. rewind: last block to keep.',
    defaultText: 'verify: the newest block',
  }),
  segments: {
    flag: 'segments',
    placeholder: 'all|log:ID|transaction:ID',
    default: undefined as SegmentChoice | undefined,
    defaultText: 'all',
    doc: 'Segments that --index verifies: all, or one by its id.',
    commands: ['verify'],
    parse: parseSegments,
  },
  json: flag('json', ['keys', 'status', 'explain-logs'], 'Print JSON.'),
} as const satisfies { [key: string]: Option<unknown> }

export type OptionKey = keyof typeof OPTIONS

/** The value of every option. */
export type Config = { [K in OptionKey]: (typeof OPTIONS)[K] extends Option<infer T> ? T : never }

/** The options in the order of the table. */
export function listOptions(): [OptionKey, Option<unknown>][] {
  return Object.entries(OPTIONS) as [OptionKey, Option<unknown>][]
}

/** The environment variable of an option. */
export function envName(option: { readonly flag: string }): string {
  return `CAIRN_${option.flag.toUpperCase().replaceAll('-', '_')}`
}

function text(flag: string, placeholder: string, value: string, commands: readonly Command[], doc: string) {
  return { flag, placeholder, default: value, commands, doc, parse: parseText(flag) }
}

function maybeText(flag: string, placeholder: string, commands: readonly Command[], doc: string, defaultText: string) {
  return {
    flag,
    placeholder,
    default: undefined as string | undefined,
    defaultText,
    commands,
    doc,
    parse: parseText(flag),
  }
}

function flag(name: string, commands: readonly Command[], doc: string) {
  return { flag: name, default: false, defaultText: 'off', commands, doc, parse: parseSwitch(name) }
}

function choice<T extends string>(
  flag: string,
  values: readonly T[],
  commands: readonly Command[],
  doc: string,
  defaultText = 'none',
) {
  const placeholder = values.join('|')
  return {
    flag,
    placeholder,
    default: undefined as T | undefined,
    defaultText,
    commands,
    doc,
    parse: oneOf(flag, values),
  }
}

interface NumberRow {
  min: number
  max: number
  doc: string
  unit?: string
  defaultText?: string
}

function number(flag: string, placeholder: string, value: number, commands: readonly Command[], row: NumberRow) {
  const { doc, unit } = row
  return { flag, placeholder, default: value, unit, doc, commands, parse: parseInteger(flag, row) }
}

function maybeNumber(flag: string, placeholder: string, commands: readonly Command[], row: NumberRow) {
  return {
    ...number(flag, placeholder, 0, commands, row),
    default: undefined as number | undefined,
    defaultText: row.defaultText,
  }
}

function parseText(flag: string) {
  return (value: string) => {
    if (value === '') throw new UsageError(`--${flag} needs a value`)
    return value
  }
}

function parseInteger(flag: string, { min, max }: { min: number; max: number }) {
  return (value: string) => {
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) {
      throw new UsageError(`--${flag}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`)
    }
    return parsed
  }
}

function parseWords(flag: string) {
  return (value: string): readonly string[] => {
    const words = value.split(/\s+/).filter((word) => word !== '')
    if (words.length === 0) throw new UsageError(`--${flag} needs a value`)
    return words
  }
}

/** A header of requests to upstreams. */
export interface UpstreamHeaderLine {
  readonly name: string
  readonly value: string
}

/** The values are secret, and never part of a message. */
function parseHeaderLines(value: string): readonly UpstreamHeaderLine[] {
  const lines = value.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, name, text] = /^([^\s:]+):\s*(.*\S)\s*$/.exec(line.trim()) ?? []
    if (name === undefined) throw new UsageError("--upstream-header: expected 'Name: value', got something else")
    return { name, value: text }
  })
}

/** One segment of the index with such items. */
export interface SegmentChoice {
  item: string
  id: number
}

function parseSegments(value: string): SegmentChoice | undefined {
  if (value === 'all') return undefined
  const [, item, id] = /^(log|transaction):([1-9]\d{0,14})$/.exec(value) ?? []
  if (item === undefined) {
    throw new UsageError(`--segments: expected all, log:ID or transaction:ID, got ${JSON.stringify(value)}`)
  }
  return { item, id: Number(id) }
}

function oneOf<const T extends string>(flag: string, values: readonly T[]) {
  return (value: string): T => {
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) {
      const expected = `expected ${values.join(', ')}, got ${JSON.stringify(value)}`
      throw new UsageError(`--${flag}: ${expected}${didYouMean(value, values)}`)
    }
    return found
  }
}

function parseSwitch(flag: string) {
  return (value: string) => {
    if (['on', 'true', '1', 'yes'].includes(value)) return true
    if (['off', 'false', '0', 'no'].includes(value)) return false
    throw new UsageError(`--${flag}: expected on or off, got ${JSON.stringify(value)}`)
  }
}
