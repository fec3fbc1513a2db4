import { type Deadline, deadlineAfter } from '../../lib/deadline.js'
import { InvalidValue } from '../core/errors.js'
import {
  arrayOf,
  boolean,
  decodeMembers,
  integerBetween,
  invalidValue,
  isAbsent,
  maybe,
  optional,
  quantity64,
  text,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import type { NativeTracer, TracerChoice } from './tracers/tracers.js'

/** How to trace. */
export interface TraceConfig {
  readonly tracer: TracerChoice
  /** Milliseconds; the server's limit if absent. */
  readonly timeoutMs?: number
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** A duration in Go's notation, such as `500ms` or `1m30s`, in milliseconds. */
const duration: ValueType<number> = {
  schema: { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' },
  decode: (value, path) => {
    const string = text.decode(value, path)
    if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(string)) throw invalidValue(path, 'a duration such as "10s"', value)
    let ms = 0
    for (const [, number, unit] of string.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g))
      ms += Number(number) * UNIT_MS[unit]
    return ms
  },
}

const whole = integerBetween(0, Number.MAX_SAFE_INTEGER)

/** Members for the struct logger. */
const STRUCT_FIELDS = {
  enableMemory: maybe(boolean),
  disableStack: maybe(boolean),
  disableStorage: maybe(boolean),
  enableReturnData: maybe(boolean),
  limit: maybe(whole),
  // The opposites, which alloy, Erigon and older geth accept.
  disableMemory: maybe(boolean),
  disableReturnData: maybe(boolean),
  debug: maybe(boolean), // no effect: geth printed the result
}

/** Options by name of the tracer. */
const TRACERS = {
  callTracer: strictObject({ onlyTopCall: maybe(boolean), withLog: maybe(boolean) }),
  flatCallTracer: strictObject({ convertParityErrors: maybe(boolean), includePrecompiles: maybe(boolean) }),
  prestateTracer: strictObject({
    diffMode: maybe(boolean),
    disableCode: maybe(boolean),
    disableStorage: maybe(boolean),
    includeEmpty: maybe(boolean),
  }),
  '4byteTracer': strictObject({}),
  keccak256PreimageTracer: strictObject({}),
  erc7562Tracer: strictObject({
    stackTopItemsSize: maybe(whole),
    ignoredOpcodes: maybe(arrayOf(quantity64)),
    withLog: maybe(boolean),
  }),
  noopTracer: strictObject({}),
} as const

const TRACER_NAMES = [...Object.keys(TRACERS), 'muxTracer']

const tracerName: ValueType<string> = { schema: { type: 'string', enum: TRACER_NAMES }, decode: text.decode }

/** Decoded once the tracer is known. */
const tracerOptions: ValueType<unknown> = {
  schema: {
    anyOf: [
      ...Object.entries(TRACERS).map(([title, { schema }]) => ({ ...schema, title })),
      { title: 'muxTracer', type: 'object', propertyNames: { enum: TRACER_NAMES } },
    ],
  },
  decode: (value) => value,
}

/** Members of the configuration of a trace, in geth's shape. */
export const CONFIG_FIELDS = {
  tracer: maybe(tracerName),
  tracerConfig: maybe(tracerOptions),
  timeout: maybe(duration),
  reexec: maybe(whole),
  ...STRUCT_FIELDS,
}

const members = strictObject(CONFIG_FIELDS, { title: 'trace configuration' })

/** The configuration of a trace, in geth's shape. */
const traceConfig: ValueType<TraceConfig> = {
  schema: members.schema,
  decode: (value, path) => readConfig(members.decode(value, path), path),
}

/** The configuration from its members. @throws InvalidValue for options that the tracer does not have */
export function readConfig(config: ReturnType<typeof members.decode>, path: string): TraceConfig {
  const { tracer, tracerConfig, timeout } = config
  return { tracer: tracer ? nativeTracer(tracer, tracerConfig, path) : structLogger(config, path), timeoutMs: timeout }
}

function structLogger(config: ReturnType<typeof members.decode>, path: string): TracerChoice {
  const { enableMemory, disableMemory, enableReturnData, disableReturnData } = config
  const { disableStack, disableStorage, limit, tracerConfig } = config
  if (!isAbsent(tracerConfig) && Object.keys(decodeMembers(tracerConfig, `${path}.tracerConfig`)).length > 0) {
    throw new InvalidValue(`${path}.tracerConfig: expected a tracer beside it, one of ${TRACER_NAMES.join(', ')}`)
  }
  return {
    name: 'structLogger',
    enableMemory: enableMemory ?? negate(disableMemory),
    enableReturnData: enableReturnData ?? negate(disableReturnData),
    ...{ disableStack, disableStorage, limit },
  }
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value
}

function nativeTracer(name: string, config: unknown, path: string): NativeTracer {
  const at = `${path}.tracerConfig`
  if (name === 'muxTracer') {
    const inside = Object.entries(decodeMembers(config ?? {}, at))
    return { name, tracers: inside.map(([inner, each]) => nativeTracer(inner, each, at)) }
  }
  if (!Object.hasOwn(TRACERS, name)) {
    throw invalidValue(`${path}.tracer`, `one of ${TRACER_NAMES.join(', ')} (JavaScript tracers are not run)`, name)
  }
  const known = name as keyof typeof TRACERS
  const options = TRACERS[known].decode(isAbsent(config) ? {} : config, at)
  return { name: known, ...options } as NativeTracer
}

/** The struct logger with all defaults. */
export const DEFAULT_CONFIG: TraceConfig = { tracer: { name: 'structLogger' } }

/** The second parameter of `debug_traceTransaction` and of the methods that trace blocks. */
export const traceConfigParam = optional(
  'config',
  traceConfig,
  '`tracer` (the struct logger if absent) and `tracerConfig`; `timeout`, at most the limit of the server; for the struct ' +
    'logger `enableMemory`, `disableStack`, `disableStorage`, `enableReturnData` and `limit` (bytes of its entries, 0: no limit). ' +
    '`reexec` has no effect',
  DEFAULT_CONFIG,
)

/** The server's deadline, or the one of the configuration if that is earlier. */
export function traceDeadline(deadline: Deadline, { timeoutMs }: Pick<TraceConfig, 'timeoutMs'>): Deadline {
  if (timeoutMs === undefined || timeoutMs >= deadline.remainingMs()) return deadline
  const own = deadlineAfter(timeoutMs)
  return {
    ...own,
    check() {
      deadline.check()
      own.check()
    },
  }
}
