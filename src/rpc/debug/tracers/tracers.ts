import { CALL, STATICCALL } from '../../../chain/eth/callOpcodes.js'
import type { Hooks } from '../../../evm/interpreter/hooks.js'
import { recordCalls, type TracedCall } from '../../../evm/tracing/callTree.js'
import type { Applied, Execution } from '../../../evm/tracing/execution.js'
import { recordPrestate } from '../../../evm/tracing/executionState.js'
import { type FlatOptions, precompilesOf } from '../../../evm/tracing/flatCalls.js'
import { convertedByGeth } from '../../../evm/tracing/parityErrors.js'
import { formatData } from '../../../lib/hex.js'
import type { StoredBlock } from '../../../store/rows/types.js'
import type { JsonOutput } from '../../core/jsonOutput.js'
import { formatCallFrame } from './callFrames.js'
import { type Erc7562Options, recordErc7562 } from './erc7562.js'
import { type FlatCall, flattenCalls, type GethFlatOptions } from './flatCalls.js'
import { formatPreimages, recordPreimages } from './keccakPreimages.js'
import { byKey, formatPrestate, formatStateDifference, type PrestateOptions } from './prestate.js'
import { countSelectors } from './selectors.js'
import { type StructLogOptions, writeStructLogs } from './structLogs.js'

/** The requested tracer, with its options. */
export type TracerChoice = ({ readonly name: 'structLogger' } & StructLogOptions) | NativeTracer
/** A tracer with a name, which a muxTracer may contain. */
export type NativeTracer =
  | { readonly name: 'callTracer'; readonly onlyTopCall?: boolean; readonly withLog?: boolean }
  | ({ readonly name: 'flatCallTracer' } & GethFlatOptions)
  | ({ readonly name: 'prestateTracer' } & PrestateOptions)
  | ({ readonly name: 'erc7562Tracer' } & Erc7562Options)
  | { readonly name: '4byteTracer' | 'keccak256PreimageTracer' | 'noopTracer' }
  | { readonly name: 'muxTracer'; readonly tracers: readonly NativeTracer[] }

/** The location of a traced transaction; absent for calls. */
interface TracePlace {
  readonly block: StoredBlock
  readonly index: number
  readonly hash: Uint8Array // 32
}

/** Runs the execution under the tracer and writes its result. @throws DeadlineExceeded, CallMemoryExceeded */
export function writeTrace(out: JsonOutput, choice: TracerChoice, execution: Execution, place?: TracePlace): void {
  const { journal } = execution
  if (choice.name === 'structLogger') {
    const applied = execution.tryOut()
    writeStructLogs(out, choice, { applied, journal, run: (hooks) => void execution.run(hooks) })
    return
  }
  const { hooks, result } = startTracer(choice, execution, place)
  out.write(JSON.stringify(result(execution.run(hooks))))
}

/** A tracer of one execution. */
interface RunningTracer {
  readonly hooks?: Hooks
  result(applied: Applied): unknown
}

function startTracer(choice: NativeTracer, execution: Execution, place: TracePlace | undefined): RunningTracer {
  switch (choice.name) {
    case 'callTracer': {
      const { hooks, root } = recordCalls(execution.journal.meter, choice)
      return {
        hooks,
        result: (applied) => formatCallFrame(ofTransaction(root(), execution, applied), execution.logsBefore),
      }
    }
    case 'flatCallTracer': {
      const { hooks, root } = recordCalls(execution.journal.meter)
      const options = flatOptionsOfGeth(choice, precompilesOf(execution))
      return {
        hooks,
        result: (applied) =>
          flattenCalls(ofTransaction(root(), execution, applied), options).map((each) => placeFlatCall(each, place)),
      }
    }
    case '4byteTracer': {
      const { hooks, root } = recordCalls(execution.journal.meter)
      return { hooks, result: () => countSelectors(root(), precompilesOf(execution)) }
    }
    case 'prestateTracer':
      return startPrestate(choice, execution)
    case 'keccak256PreimageTracer': {
      const { hooks, preimages } = recordPreimages(execution.journal.meter)
      return { hooks, result: () => formatPreimages(preimages()) }
    }
    case 'erc7562Tracer': {
      const { hooks, result } = recordErc7562(execution.journal, choice)
      return {
        hooks: joinHooks(hooks),
        result: (applied) => result((root) => ofTransaction(root, execution, applied), execution.logsBefore),
      }
    }
    case 'noopTracer':
      return { result: () => ({}) }
    case 'muxTracer': {
      const tracers = choice.tracers.map((each) => ({ name: each.name, ...startTracer(each, execution, place) }))
      return {
        hooks: joinHooks(tracers.flatMap(({ hooks }) => hooks ?? [])),
        result: (applied) => byKey(tracers.map(({ name, result }) => [name, result(applied)])),
      }
    }
  }
}

function startPrestate(options: PrestateOptions, execution: Execution): RunningTracer {
  const { journal, machine } = execution
  const { hooks, touched } = recordPrestate(execution, options)
  return {
    hooks,
    result: () =>
      options.diffMode
        ? formatStateDifference(touched.values(), { journal, eip8246: machine.rules.eip8246 }, options)
        : formatPrestate(touched.values(), options),
  }
}

/** The first call, with the gas of the whole transaction. */
function ofTransaction(root: TracedCall, { transaction }: Execution, { gasUsed }: Applied): TracedCall {
  return { ...root, gas: transaction.gasLimit, gasUsed }
}

/** geth omits CALL and STATICCALL of a precompile, with or without value. */
function flatOptionsOfGeth(
  { convertParityErrors = false, includePrecompiles = false }: GethFlatOptions,
  isPrecompile: (address: Uint8Array) => boolean,
): FlatOptions {
  return {
    errorOf: convertParityErrors ? (_, failure) => convertedByGeth(failure) : undefined,
    isHidden: ({ opcode, to }) => !includePrecompiles && (opcode === CALL || opcode === STATICCALL) && isPrecompile(to),
  }
}

function placeFlatCall({ action, error, result, subtraces, traceAddress, type }: FlatCall, place?: TracePlace): object {
  return {
    action,
    blockHash: place === undefined ? null : formatData(place.block.hash),
    blockNumber: place?.block.header.number ?? 0,
    error,
    result,
    subtraces,
    traceAddress,
    transactionHash: place === undefined ? null : formatData(place.hash),
    transactionPosition: place?.index ?? 0,
    type,
  }
}

/** Hooks that call all of the listed ones, in order. */
export function joinHooks(all: readonly Hooks[]): Hooks {
  const has = (name: keyof Hooks) => all.some((hooks) => hooks[name] !== undefined)
  const stepping = all.filter((hooks) => hooks.step !== undefined)
  return {
    opcodes: stepping.length === 1 ? stepping[0].opcodes : undefined,
    enter: (call) => {
      for (const hooks of all) hooks.enter?.(call)
    },
    exit: (end) => {
      for (const hooks of all) hooks.exit?.(end)
    },
    log: (log) => {
      for (const hooks of all) hooks.log?.(log)
    },
    step: has('step')
      ? (machine, frame, opcode) => {
          for (const hooks of all) hooks.step?.(machine, frame, opcode)
        }
      : undefined,
    stepped: has('step')
      ? (machine, cost, failure) => {
          for (const hooks of all) hooks.stepped?.(machine, cost, failure)
        }
      : undefined,
  }
}
