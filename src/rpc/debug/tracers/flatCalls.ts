import { isCreation, SELFDESTRUCT } from '../../../chain/eth/callOpcodes.js'
import type { TracedCall } from '../../../evm/tracing/callTree.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import { OPCODE_NAMES } from './opcodeNames.js'

/** Options of a flat trace. */
export interface FlatOptions {
  /** The error of a call in other words. */
  errorOf?(call: TracedCall, failure: string): string
  /** True for calls to omit, with all below them. Not called for the first. */
  isHidden(call: TracedCall): boolean
}

/** Options of geth's flatCallTracer. */
export interface GethFlatOptions {
  /** Errors in OpenEthereum's words. */
  readonly convertParityErrors?: boolean
  /** Include calls of precompiles. */
  readonly includePrecompiles?: boolean
}

/** A call in the flat shape, without the members that locate it in a block. */
export interface FlatCall {
  readonly action: object
  readonly error?: string
  readonly result?: object | null
  readonly subtraces: number
  readonly traceAddress: readonly number[]
  readonly type: string
}

/** Flattens the call and all below it, parents first. */
export function flattenCalls(root: TracedCall, options: FlatOptions): FlatCall[] {
  const out: FlatCall[] = []
  const add = (call: TracedCall, traceAddress: number[]) => {
    const calls = call.calls.filter((each) => !options.isHidden(each))
    const { failure } = call
    const isFailed = failure !== undefined && failure !== 'execution reverted'
    out.push({
      action: formatAction(call),
      error: failure !== undefined && options.errorOf ? options.errorOf(call, failure) : failure,
      result: isFailed || call.opcode === SELFDESTRUCT ? undefined : formatResult(call),
      subtraces: calls.length,
      traceAddress,
      type: call.opcode === SELFDESTRUCT ? 'suicide' : isCreation(call) ? 'create' : 'call',
    })
    for (const [i, each] of calls.entries()) add(each, [...traceAddress, i])
  }
  add(root, [])
  return out
}

function formatAction(call: TracedCall): object {
  const { opcode, gas } = call
  const value = formatQuantity(call.value ?? 0n)
  const from = formatData(call.from)
  const to = formatData(call.to)
  if (opcode === SELFDESTRUCT) return { address: from, balance: value, refundAddress: to }
  const method = OPCODE_NAMES[opcode].toLowerCase()
  const data = formatData(call.input)
  if (isCreation(call)) return { creationMethod: method, from, gas: formatQuantity(gas), init: data, value }
  return { callType: method, from, gas: formatQuantity(gas), input: data, to, value }
}

function formatResult(call: TracedCall): object {
  const gasUsed = formatQuantity(call.gasUsed)
  if (!isCreation(call)) return { gasUsed, output: formatData(call.output) }
  const address = call.failure === undefined ? formatData(call.to) : undefined
  return { address, code: formatData(call.output), gasUsed }
}
