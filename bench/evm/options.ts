import { parseArgs } from 'node:util'
import { FORK_NAMES } from './forks.js'
import { IMPORT_NAMES } from './imports.js'
import { makeCallShapes } from './shapes.js'
import { TRACE_NAMES } from './traces.js'

/** What the benchmark is asked for. */
export interface EvmBenchOptions {
  /** Where the report goes. */
  json: string
  /** Whether anvil is asked too. */
  anvil: boolean
  /** Seconds that each figure is measured for. */
  seconds: number
  /** Names of calls, traces and imports to measure, of each kind in its order. */
  calls: string[]
  traces: string[]
  imports: string[]
  /** Names of the comparisons of Amsterdam with Osaka. */
  forks: string[]
  /** Whether calls are asked over HTTP. */
  http: boolean
  /** Full blocks of each kind that are made. */
  blocks: number
}

const CALL_NAMES = makeCallShapes().map(({ name }) => name)
const ALL_NAMES = [...CALL_NAMES, ...TRACE_NAMES, ...IMPORT_NAMES, ...FORK_NAMES]

export const USAGE = `usage: npm run bench:evm -- [--peers anvil] --json FILE
  --seconds N       that each figure is measured for: 3
  --only LIST       names, or begins of names, of: ${ALL_NAMES.join('; ')}
                    (separated by semicolons); also 'calls', 'traces', 'imports' and 'forks'
  --no-http         leaves calls over HTTP out
  --blocks N        full blocks of each kind that are made: 20`

/** The options of the command line. @throws Error that says what is wrong with them. */
export function parseEvmBenchOptions(args: readonly string[]): EvmBenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'string' },
      peers: { type: 'string', default: '' },
      seconds: { type: 'string', default: '3' },
      only: { type: 'string', default: 'calls;traces;imports;forks' },
      'no-http': { type: 'boolean', default: false },
      blocks: { type: 'string', default: '20' },
    },
  })
  const { json, peers, only } = values
  if (json === undefined) throw new Error('--json FILE: where does the report go?')
  if (peers !== '' && peers !== 'anvil') throw new Error(`--peers: expected anvil, got ${peers}`)
  const wanted = only.split(';').map((name) => name.trim())
  const known = [...ALL_NAMES, 'calls', 'traces', 'imports', 'forks']
  const unknown = wanted.filter((name) => name === '' || !known.some((other) => other.startsWith(name)))
  if (unknown.length > 0) throw new Error(`--only: nothing is named '${unknown.join("', '")}'`)
  const pick = (names: readonly string[], all: string) =>
    names.filter((name) => wanted.includes(all) || wanted.some((begin) => begin !== all && name.startsWith(begin)))
  return {
    json,
    anvil: peers === 'anvil',
    seconds: parsePositive('seconds', values.seconds),
    calls: pick(CALL_NAMES, 'calls'),
    traces: pick(TRACE_NAMES, 'traces'),
    imports: pick(IMPORT_NAMES, 'imports'),
    forks: pick(FORK_NAMES, 'forks'),
    http: !values['no-http'],
    blocks: Math.ceil(parsePositive('blocks', values.blocks)),
  }
}

function parsePositive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name}: expected a number above 0, got ${text}`)
  return value
}
