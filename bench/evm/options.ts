import type { BenchRun } from '../lib/bench.js'
import { count, flag, list, type Option, positive } from '../lib/options.js'
import { FORK_NAMES } from './forks.js'
import { IMPORT_NAMES } from './imports.js'
import { makeCallShapes } from './shapes.js'
import { TRACE_NAMES } from './traces.js'

/** Names of what is measured, by phase. */
export const NAMES = {
  calls: makeCallShapes().map(({ name }) => name),
  traces: TRACE_NAMES,
  imports: IMPORT_NAMES,
  forks: FORK_NAMES,
} as const

const ALL_NAMES = Object.values(NAMES).flat()

/** Begins of names, separated by semicolons. */
const ONLY: Option<readonly string[]> = {
  default: [''],
  about: `names, or begins of names, separated by semicolons, of: ${ALL_NAMES.join('; ')}`,
  parse: (_flag, text) => {
    const begins = text.split(';').map((begin) => begin.trim())
    const unknown = begins.filter((begin) => begin === '' || !ALL_NAMES.some((name) => name.startsWith(begin)))
    if (unknown.length > 0) throw new Error(`--only: nothing is named '${unknown.join("', '")}'`)
    return begins
  },
}

/** Options of `npm run bench:evm`. */
export const OPTIONS = {
  peers: list(['anvil'], 'another node with the same state or blocks'),
  seconds: positive(3, 'that each figure is measured for'),
  warm: count(5, 'seconds of each call over HTTP before those that count', 0),
  'call-rounds': count(3, 'of --seconds each, for calls over HTTP; the median counts'),
  only: ONLY,
  'no-http': flag('leaves calls and traces over HTTP out'),
  'accept-threads': count(0, 'of the server that calls over HTTP ask', 0),
  blocks: count(20, 'full blocks of each kind'),
  gas: count(30, 'million gas of a full block'),
  slots: count(18_000, 'of the contract that sums them'),
  rounds: count(5, 'imports of each kind in the phase traceIndex'),
  'fork-rounds': count(3, 'imports of each kind in the phase forks'),
  accounts: count(250_000, 'of the large state'),
  'state-cache': count(64, 'MiB, of imports of the large state'),
  updates: count(300, 'accounts that change in a block of the large state'),
  'update-blocks': count(256, 'blocks with that many updates'),
}

/** A run of the bench. */
export type EvmRun = BenchRun<typeof OPTIONS>

/** Names of the phase that `--only` names, in their order. */
export function pickNames(phase: keyof typeof NAMES, { only }: EvmRun['values']): readonly string[] {
  return NAMES[phase].filter((name) => only.some((begin) => name.startsWith(begin)))
}
