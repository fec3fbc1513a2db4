import { formatQuantity } from '../../../src/lib/hex.js'
import { blockOverrides, callObject, stateOverrides } from './calls.js'
import type { Choices, Request } from './random.js'

/** Names of the tracers that are compared, but for `muxTracer`. */
const TRACERS = [
  ...['callTracer', 'flatCallTracer', 'prestateTracer', '4byteTracer', 'noopTracer'],
  ...['keccak256PreimageTracer', 'erc7562Tracer'],
]

const OPTIONS: { readonly [tracer: string]: readonly string[] } = {
  callTracer: ['onlyTopCall', 'withLog'],
  flatCallTracer: ['convertParityErrors', 'includePrecompiles'],
  prestateTracer: ['diffMode', 'disableCode', 'disableStorage', 'includeEmpty'],
  erc7562Tracer: ['withLog'],
}

const STRUCT_OPTIONS = ['enableMemory', 'disableStack', 'disableStorage', 'enableReturnData']

function flags(names: readonly string[], { oneIn }: Choices): { [name: string]: boolean } {
  return Object.fromEntries(names.filter(() => oneIn(2)).map((name) => [name, !oneIn(4)]))
}

function tracerOptions(choices: Choices, tracer: string): object {
  const { diffMode, ...options } = flags(OPTIONS[tracer] ?? [], choices)
  // geth refuses empty accounts in differences.
  return diffMode ? { ...options, diffMode, includeEmpty: false } : options
}

/** As long as a trace may take, so that neither server aborts one on a busy machine. */
const UNHURRIED = { timeout: '60s' }

/** A random configuration of a trace: the struct logger once in three times. */
export function traceConfig(choices: Choices): { [member: string]: unknown } {
  return { ...randomConfig(choices), ...UNHURRIED }
}

function randomConfig(choices: Choices): { [member: string]: unknown } {
  const { pick, oneIn, random } = choices
  if (oneIn(3)) return { ...flags(STRUCT_OPTIONS, choices), ...(oneIn(10) ? { limit: random.below(3000) } : {}) }
  if (oneIn(8)) {
    const inner = TRACERS.filter(() => oneIn(2)).map((tracer) => [tracer, tracerOptions(choices, tracer)])
    return { tracer: 'muxTracer', tracerConfig: Object.fromEntries(inner) }
  }
  const tracer = pick(TRACERS)
  return { tracer, tracerConfig: tracerOptions(choices, tracer) }
}

/** Struct logs and each tracer of every block with a transaction, with random options. */
export function blockTraces(choices: Choices): Request[] {
  const { facts } = choices
  const numbers = [...new Set(facts.transactions.map(({ blockNumber }) => blockNumber))]
  return numbers.flatMap((number) => {
    const configs = [
      flags(STRUCT_OPTIONS, choices),
      ...TRACERS.map((tracer) => ({ tracer, tracerConfig: tracerOptions(choices, tracer) })),
    ]
    return configs.map((config) => ({
      method: 'debug_traceBlockByNumber',
      params: [formatQuantity(number), { ...config, ...UNHURRIED }],
    }))
  })
}

/** A random trace of a transaction, a block or a call. */
export function randomTrace(choices: Choices): Request {
  const { random, facts, pick, oneIn } = choices
  const kind = random.below(8)
  const config = traceConfig(choices)
  if (kind <= 2) return { method: 'debug_traceTransaction', params: [pick(facts.transactions).hash, config] }
  if (kind === 3) return { method: 'debug_traceBlockByHash', params: [pick(facts.blockHashes), config] }
  // geth refuses to trace calls at block 0.
  const number = 1 + random.below(facts.head)
  const overrides = {
    ...(oneIn(4) ? { stateOverrides: stateOverrides(choices) } : {}),
    ...(oneIn(6) ? { blockOverrides: blockOverrides(choices) } : {}),
  }
  return {
    method: 'debug_traceCall',
    params: [callObject(choices), formatQuantity(number), { ...config, ...overrides }],
  }
}
