import { isCreation, parityTypeOf, SELFDESTRUCT } from '../../../chain/eth/callOpcodes.js'
import { FAILED_DEPOSIT } from '../../../evm/interpreter/failures.js'
import type { TracedCall } from '../../../evm/tracing/callTree.js'
import { type FlatOptions, type FlatTraceCall, flattenCallTree } from '../../../evm/tracing/flatCalls.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import { OPCODE_NAMES } from './opcodeNames.js'

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
  return flattenCallTree(root, options).map(formatFlatCall)
}

/** What op-geth shows for a deposit that failed before it ran. */
const FAILED_DEPOSIT_ACTION = { callType: 'stop', from: formatData(new Uint8Array(20)), gas: '0x0', input: '0x' }

/** Returns the call in geth's shape. */
export function formatFlatCall({ call, traceAddress, subtraces, error, hasResult }: FlatTraceCall): FlatCall {
  const isFailedDeposit = call.failure === FAILED_DEPOSIT
  return {
    action: isFailedDeposit ? FAILED_DEPOSIT_ACTION : formatAction(call),
    error,
    result: hasResult ? formatResult(call) : undefined,
    subtraces,
    traceAddress,
    type: isFailedDeposit ? 'call' : parityTypeOf(call),
  }
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
