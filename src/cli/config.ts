import type { Network } from '../chain/eth/genesis.js'
import { L2_NETWORK_NAMES } from '../chain/starknet/networks.js'
import { EVM_KINDS, type EvmKind } from '../evm/kinds.js'
import type { FileKind } from '../ingest/importFiles.js'
import { UsageError } from '../lib/errors.js'
import { LOG_LEVELS, type LogLevel } from '../lib/logger.js'
import { didYouMean } from '../lib/nearest.js'
import { PENDING_BLOCK_FORMS, type PendingBlockForm } from '../rpc/core/context.js'
import { DEFAULT_LIMITS } from '../rpc/core/limits.js'
import { COMPRESS_MODES, type CompressMode } from '../server/compression.js'
import { DEFAULT_SERVER_LIMITS } from '../server/limits.js'

// As `ingest/importFiles` names them, which is too much to load for `--help`; its type says when they differ.
const FILE_KINDS = ['chain-rlp', 'era1', 'starknet'] as const satisfies readonly FileKind[]

/** The commands of `cairn`. */
export const COMMANDS = [
  'import',
  'serve',
  'keys',
  'status',
  'explain-logs',
  'verify',
  'reindex',
  'version',
  'help',
] as const
export type Command = (typeof COMMANDS)[number]

/** One option: a row of the configuration table, from which parsing, help and the reference page are made. */
export interface Option<T> {
  /** `--flag`; its environment variable is `CAIRN_FLAG`. */
  readonly flag: string
  /** The value's name in help; undefined for a flag without one. */
  readonly placeholder?: string
  readonly default: T
  /** The default as a person reads it; where there is none, what happens then. */
  readonly defaultText?: string
  readonly unit?: string
  readonly doc: string
  readonly commands: readonly Command[]
  /** @throws UsageError saying what would be right. */
  parse(text: string): T
}

/** All options. */
export const OPTIONS = {
  datadir: text(
    'datadir',
    'DIR',
    './data',
    ['import', 'serve', 'keys', 'status', 'explain-logs', 'verify', 'reindex'],
    'Directory of the database.',
  ),
  genesis: maybeText('genesis', 'FILE', ['import'], "Genesis file in geth's form, for a chain of one's own.", 'none'),
  network: choice(
    'network',
    ['mainnet', 'sepolia', 'holesky', 'hoodi'] as const satisfies Network[],
    ['import'],
    'Built-in network whose genesis and forks apply.',
  ),
  state: choice(
    'state',
    ['execute', 'none'] as const,
    ['import'],
    'Whether to execute blocks and keep state, or to take the receipts of the file.',
    'as the database was begun; execute for a new one',
  ),
  evm: {
    flag: 'evm',
    placeholder: EVM_KINDS.join('|'),
    default: 'cairn' as EvmKind,
    doc:
      "What executes blocks and calls: Cairn's own interpreter, or that of @ethereumjs, which is many times slower and " +
      'there to compare with.',
    commands: ['import', 'serve'],
    parse: oneOf('evm', EVM_KINDS),
  },
  kind: choice(
    'kind',
    FILE_KINDS,
    ['import'],
    'What the files are, when it is not to be recognised from their content.',
    'recognised',
  ),
  l2Verify: {
    flag: 'l2-verify',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc: 'Whether to recompute the hashes of layer-2 blocks.',
    commands: ['import', 'serve'],
    parse: parseSwitch('l2-verify'),
  },
  l2Network: choice(
    'l2-network',
    L2_NETWORK_NAMES,
    ['import', 'serve'],
    'Network that the layer-2 blocks are of.',
    'found out from their hashes',
  ),
  stateCache: number('state-cache', 'MIB', 256, ['import'], {
    min: 4,
    max: 1_048_576,
    unit: 'MiB',
    doc: 'Memory for the newest state while blocks are executed: half of it for the trie, the rest for accounts, slots and code.',
  }),
  rootInterval: number('root-interval', 'N', 0, ['import'], {
    min: 0,
    max: 10_000,
    unit: 'blocks',
    doc:
      'Blocks from one check of the state root to the next; a wrong one is found among those between. ' +
      '0: every block is checked, and from 250,000 accounts on every 64th as long as so many are to come.',
  }),
  fixture: maybeText(
    'fixture',
    'DIR',
    ['serve'],
    "Serve what 'cairn import DIR' would import, from a temporary database, without a key; DIR needs a genesis.json.",
    'none',
  ),
  host: text('host', 'HOST', '127.0.0.1', ['serve'], 'Address to listen on.'),
  port: number('port', 'PORT', 8545, ['serve'], { min: 0, max: 65_535, doc: 'Port to listen on; 0 takes a free one.' }),
  open: flag('open', ['serve'], 'Serve without an API key.'),
  cors: maybeText(
    'cors',
    'ORIGINS',
    ['serve'],
    'Origins of web pages that may read answers, by comma; * for all.',
    'those of localhost and loopback addresses when open on loopback, none otherwise',
  ),
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
    'Names in Host headers that are served beside localhost, loopback addresses and --host, by comma; * for all.',
    'no others when listening on loopback, all otherwise',
  ),
  rateLimit: number('rate-limit', 'RPS', 0, ['serve'], {
    min: 0,
    max: 1_000_000,
    unit: 'calls per second',
    doc: 'Calls that a key may make per second, each call of a batch counted; 0 is no limit.',
  }),
  maxConnections: maybeNumber('max-connections', 'N', ['serve'], {
    min: 1,
    max: 1_000_000,
    doc: 'Connections open at a time, HTTP and WebSocket together; for further ones idle ones are closed, or they are refused with 503.',
    defaultText: '10,000, or as many as files may be open less 500',
  }),
  maxInFlight: number('max-in-flight', 'N', DEFAULT_SERVER_LIMITS.maxInFlight, ['serve'], {
    min: 1,
    max: 1_000_000,
    doc:
      'Requests of one key under way at a time, or of one address without keys; a batch is one request. Further ones are ' +
      'refused with 429.',
  }),
  bodyMemory: number('body-memory', 'MB', DEFAULT_SERVER_LIMITS.bodyBytes / 1e6, ['serve'], {
    min: 16,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for requests that are received, wait or are worked on; beyond, requests are refused with 503.',
  }),
  outputMemory: number('output-memory', 'MB', DEFAULT_SERVER_LIMITS.outputBytes / 1e6, ['serve'], {
    min: 64,
    max: 65_536,
    unit: 'MB',
    doc: 'Memory for answers that are made or not yet taken by their clients; beyond, requests wait, then are refused with 503.',
  }),
  scanThreads: maybeNumber('scan-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Threads that answer log queries.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  evmThreads: maybeNumber('evm-threads', 'N', ['serve'], {
    min: 1,
    max: 64,
    doc: 'Threads that answer contract calls; one more is kept ready.',
    defaultText: 'half of the cores, 2 to 8',
  }),
  logsTimeout: number('logs-timeout', 'MS', DEFAULT_LIMITS.logsTimeoutMs, ['serve', 'explain-logs'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Longest that a log query may take.',
  }),
  slowLogs: number('slow-logs', 'MS', DEFAULT_LIMITS.slowLogsMs, ['serve'], {
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Log queries that take at least so long are logged with what they did and advice; 0 logs none.',
  }),
  callTimeout: number('call-timeout', 'MS', DEFAULT_LIMITS.callTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Longest that a contract call may take.',
  }),
  queueTimeout: number('queue-timeout', 'MS', DEFAULT_LIMITS.queueTimeoutMs, ['serve'], {
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    doc: 'Longest that a log query or a call waits for a thread; one that waits longer is refused.',
  }),
  maxLogs: number('max-logs', 'N', DEFAULT_LIMITS.maxLogs, ['serve', 'explain-logs'], {
    min: 1,
    max: 1_000_000,
    doc: 'Most logs that one query may return.',
  }),
  maxFilterParams: number('max-filter-params', 'N', DEFAULT_LIMITS.maxFilterParams, ['serve', 'explain-logs'], {
    min: 1,
    max: 100_000,
    doc: 'Most addresses and topic values together that one log query may name.',
  }),
  gasCap: number('gas-cap', 'PERCENT', DEFAULT_LIMITS.gasCapPercent, ['serve'], {
    min: 1,
    max: 100_000,
    unit: 'percent',
    doc: "Cap of a call's gas, of the gas limit of the block.",
  }),
  maxCallGas: number('max-call-gas', 'MGAS', DEFAULT_LIMITS.maxCallGas / 1e6, ['serve'], {
    min: 1,
    max: 1_000_000,
    unit: 'million gas',
    doc: "Cap of a call's gas whatever the gas limit of the block; the smaller of this and --gas-cap holds.",
  }),
  callMemory: number('call-memory', 'MIB', DEFAULT_LIMITS.callMemoryBytes / 2 ** 20, ['serve'], {
    min: 1,
    max: 1_048_576,
    unit: 'MiB',
    doc:
      'Memory that one contract call may take: memory of its frames, return data, output, and the state that it reads ' +
      'and changes. Each thread for calls runs one at a time.',
  }),
  maxReturnData: number('max-return-data', 'BYTES', DEFAULT_LIMITS.maxReturnBytes, ['serve'], {
    min: 1,
    max: 100_000_000,
    unit: 'bytes',
    doc: 'Longest data that a contract call may return or revert with.',
  }),
  pendingBlock: {
    flag: 'pending-block',
    placeholder: PENDING_BLOCK_FORMS.join('|'),
    default: 'specification' as PendingBlockForm,
    doc:
      'How eth_getBlockByNumber gives the pending block: with null number and logsBloom as the API specification has it, ' +
      'or with its number and a logsBloom of zeros, which ethers and cast need.',
    commands: ['serve'],
    parse: oneOf('pending-block', PENDING_BLOCK_FORMS),
  },
  responseCache: number('response-cache', 'MIB', 64, ['serve'], {
    min: 0,
    max: 65_536,
    unit: 'MiB',
    doc: 'Memory for recent answers to log queries and calls, refusals among them, which are given again; 0 is none.',
  }),
  inlineCalls: {
    flag: 'inline-calls',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc:
      'Whether small calls are run by the thread that takes requests, which is several times as fast; whatever takes ' +
      'longer goes to a thread for calls. Not with --evm reference.',
    commands: ['serve'],
    parse: parseSwitch('inline-calls'),
  },
  compress: {
    flag: 'compress',
    placeholder: COMPRESS_MODES.join('|'),
    default: 'auto' as CompressMode,
    doc:
      'Whether to compress answers over HTTP for clients that take brotli or gzip; auto: not for those on this ' +
      'machine, which would wait longer. Set on behind a proxy on this machine that passes on Accept-Encoding.',
    commands: ['serve'],
    parse: oneOf('compress', COMPRESS_MODES),
  },
  compressAbove: number('compress-above', 'KIB', 64, ['serve'], {
    min: 0,
    max: 1_048_576,
    unit: 'KiB',
    doc: 'Answers up to this size are not compressed.',
  }),
  logLevel: {
    flag: 'log-level',
    placeholder: 'LEVEL',
    default: 'info' as LogLevel,
    doc: `How much is logged to standard error: ${LOG_LEVELS.join(', ')}.`,
    commands: ['import', 'serve'],
    parse: oneOf('log-level', LOG_LEVELS),
  },
  file: flag('file', ['verify'], "Verify the file: SQLite's integrity check, the schema, facts and API keys."),
  blocks: flag('blocks', ['verify'], 'Verify blocks: make headers, roots and senders anew from the rows.'),
  stateHistory: flag(
    'state-history',
    ['verify'],
    'Verify the state: play its history forward and compare every state root; code; the stored trie.',
  ),
  index: flag('index', ['verify'], 'Verify the indexes: compare those of logs and transactions with the rows.'),
  l2: flag('l2', ['verify'], 'Verify layer-2 blocks: read them anew from their recordings.'),
  from: maybeNumber('from', 'NUMBER', ['verify'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'First block that --blocks verifies.',
    defaultText: 'the first block',
  }),
  to: maybeNumber('to', 'NUMBER', ['verify'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'Last block that --blocks verifies.',
    defaultText: 'the newest block',
  }),
  segments: {
    flag: 'segments',
    placeholder: 'all|log:ID|transaction:ID',
    default: undefined as SegmentChoice | undefined,
    defaultText: 'all',
    doc: 'Segments to compare: all, or one of an index by its id.',
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

/** One segment of the index whose items are called so. */
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
