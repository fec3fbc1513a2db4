import { parseArgs } from 'node:util'

/** What can be measured beside Cairn and the ordinary design. */
export const PEERS = ['duckdb', 'anvil', 'postgres'] as const
export type PeerName = (typeof PEERS)[number]

/** What is measured of a loaded database, in this order. */
export const PHASES = ['shapes', 'tenThousand', 'load'] as const
export type Phase = (typeof PHASES)[number]

/** What the benchmark is asked for. */
export interface BenchOptions {
  logs: number
  seed: number
  /** Where the report goes. */
  json: string
  peers: PeerName[]
  phases: Phase[]
  /** A directory that is kept; without it a temporary one is removed at the end. */
  datadir: string | undefined
  /** Whether the databases in the directory are measured again instead of being made. */
  reuse: boolean
  /** Blocks that are stored behind the others one by one, to be measured. */
  tips: number
  /** Whether the ordinary design is loaded and asked too. */
  ordinary: boolean
  /** How often each filter is asked, at most. */
  runs: number
  clients: number
  seconds: number
  /** Logs that anvil replays, at most: it executes each. */
  anvilLogs: number
}

export const USAGE = `usage: npm run bench:logs -- --logs N [--seed S] [--peers ${PEERS.join(',')}] --json FILE
  --datadir DIR     makes the databases in DIR and keeps them
  --reuse           measures those of --datadir again; --logs and --seed are as they were made
  --tips N          stores N blocks more one by one and measures that, in all stores that hold the others: 0
  --no-ordinary     leaves the ordinary design out
  --phases LIST     of ${PHASES.join(',')}; all by default
  --runs N          how often each filter is asked, selective ones ten times as often: 30
  --clients N       clients of the load phase: 64
  --seconds N       its duration: 60
  --anvil-logs N    logs that anvil replays, at most: 500000`

/** The options of the command line. @throws Error that says what is wrong with them. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      logs: { type: 'string' },
      seed: { type: 'string', default: '1' },
      peers: { type: 'string', default: '' },
      json: { type: 'string' },
      datadir: { type: 'string' },
      reuse: { type: 'boolean', default: false },
      tips: { type: 'string', default: '0' },
      'no-ordinary': { type: 'boolean', default: false },
      phases: { type: 'string', default: PHASES.join(',') },
      runs: { type: 'string', default: '30' },
      clients: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '60' },
      'anvil-logs': { type: 'string', default: '500000' },
    },
  })
  const { json, datadir, reuse } = values
  if (json === undefined) throw new Error('--json FILE: where does the report go?')
  if (reuse && datadir === undefined) throw new Error('--reuse: say with --datadir which databases')
  return {
    logs: reuse ? 0 : parseCount('logs', values.logs, 1),
    seed: parseCount('seed', values.seed, 0),
    json,
    peers: parseList('peers', values.peers, PEERS),
    phases: parseList('phases', values.phases, PHASES),
    datadir,
    reuse,
    tips: parseCount('tips', values.tips, 0),
    ordinary: !values['no-ordinary'],
    runs: parseCount('runs', values.runs, 1),
    clients: parseCount('clients', values.clients, 1),
    seconds: parseCount('seconds', values.seconds, 1),
    anvilLogs: parseCount('anvil-logs', values['anvil-logs'], 1),
  }
}

function parseCount(name: string, text: string | undefined, least: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least) {
    throw new Error(`--${name}: expected a number from ${least}, got ${text ?? 'nothing'}`)
  }
  return value
}

function parseList<T extends string>(name: string, text: string, known: readonly T[]): T[] {
  const given = text.split(',').filter((item) => item !== '')
  const unknown = given.filter((item) => !known.some((other) => other === item))
  if (unknown.length > 0) throw new Error(`--${name}: expected some of ${known.join(', ')}, got ${unknown.join(', ')}`)
  return known.filter((item) => given.includes(item))
}
