import { type Deadline, deadlineAfter } from '../../lib/deadline.js'
import {
  boolean,
  decodeMembers,
  integerBetween,
  invalidValue,
  isAbsent,
  maybe,
  objectOf,
  optional,
  text,
  type ValueType,
} from '../core/params.js'
import type { NativeTracer, TracerChoice } from './tracers/tracers.js'

/** How a trace is to be made. */
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
export const duration: ValueType<number> = {
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

const structOptions = objectOf({
  enableMemory: maybe(boolean),
  disableStack: maybe(boolean),
  disableStorage: maybe(boolean),
  enableReturnData: maybe(boolean),
  limit: maybe(integerBetween(0, Number.MAX_SAFE_INTEGER)),
})

/** Options by name of the tracer. */
const TRACERS = {
  callTracer: objectOf({ onlyTopCall: maybe(boolean), withLog: maybe(boolean) }),
  flatCallTracer: objectOf({ convertParityErrors: maybe(boolean), includePrecompiles: maybe(boolean) }),
  prestateTracer: objectOf({
    diffMode: maybe(boolean),
    disableCode: maybe(boolean),
    disableStorage: maybe(boolean),
    includeEmpty: maybe(boolean),
  }),
  '4byteTracer': objectOf({}),
  noopTracer: objectOf({}),
} as const

const TRACER_NAMES = [...Object.keys(TRACERS), 'muxTracer']

const common = objectOf({
  tracer: maybe(text),
  tracerConfig: maybe<unknown>({ schema: { type: 'object' }, decode: (value) => value }),
  timeout: maybe(duration),
  reexec: maybe(integerBetween(0, Number.MAX_SAFE_INTEGER)),
})

/** The configuration of a trace, in geth's shape. */
export const traceConfig: ValueType<TraceConfig> = {
  schema: {
    title: 'trace configuration',
    type: 'object',
    properties: {
      ...(structOptions.schema.properties as object),
      ...(common.schema.properties as object),
      tracer: { type: 'string', enum: TRACER_NAMES },
    },
  },
  decode: (value, path) => {
    const { tracer, tracerConfig, timeout } = common.decode(value, path)
    const struct = (): TracerChoice => ({ name: 'structLogger', ...structOptions.decode(value, path) })
    return {
      tracer: tracer ? nativeTracer(tracer, tracerConfig, path) : struct(),
      timeoutMs: timeout,
    }
  },
}

function nativeTracer(name: string, config: unknown, path: string): NativeTracer {
  const at = `${path}.tracerConfig`
  if (name === 'muxTracer') {
    const members = Object.entries(decodeMembers(config ?? {}, at))
    return { name, tracers: members.map(([inner, each]) => nativeTracer(inner, each, at)) }
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
