import type { TracedCall } from '../../../evm/tracing/callTree.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import { isCreation } from './callFrames.js'
import { OPCODE_NAMES } from './opcodeNames.js'

const CALL = 0xf1
const STATICCALL = 0xfa
const SELFDESTRUCT = 0xff

/** Options of a flat trace. */
export interface FlatOptions {
  /** Errors in OpenEthereum's words. */
  readonly convertParityErrors?: boolean
  /** With calls to precompiles, which OpenEthereum leaves out. */
  readonly includePrecompiles?: boolean
  isPrecompile(address: Uint8Array): boolean
}

/** A call in the flat shape, without the members that place it in a block. */
export interface FlatCall {
  readonly action: object
  readonly error?: string
  readonly result?: object | null
  readonly subtraces: number
  readonly traceAddress: readonly number[]
  readonly type: string
}

// geth's eth/tracers/native/call_flat.go.
const PARITY_ERRORS = new Map([
  ['contract creation code storage out of gas', 'Out of gas'],
  ['out of gas', 'Out of gas'],
  ['gas uint64 overflow', 'Out of gas'],
  ['max code size exceeded', 'Out of gas'],
  ['invalid jump destination', 'Bad jump destination'],
  ['execution reverted', 'Reverted'],
  ['return data out of bounds', 'Out of bounds'],
  ['stack limit reached 1024 (1023)', 'Out of stack'],
  ['precompiled failed', 'Built-in failed'],
  ['precompiled contract failed', 'Built-in failed'],
  ['invalid input length', 'Built-in failed'],
])
const PARITY_PREFIXES = [
  ['out of gas:', 'Out of gas'],
  ['invalid opcode:', 'Bad instruction'],
  ['stack underflow', 'Stack underflow'],
] as const

/** The error in OpenEthereum's words, where it has some. */
export function parityError(failure: string): string {
  return PARITY_ERRORS.get(failure) ?? PARITY_PREFIXES.find(([prefix]) => failure.startsWith(prefix))?.[1] ?? failure
}

/** The call and all below it, parents first, as geth's flatCallTracer writes them. */
export function flattenCalls(root: TracedCall, options: FlatOptions): FlatCall[] {
  const out: FlatCall[] = []
  const add = (call: TracedCall, traceAddress: number[]) => {
    const calls = options.includePrecompiles ? call.calls : call.calls.filter((each) => !isHidden(each, options))
    const { failure } = call
    const isFailed = failure !== undefined && failure !== 'execution reverted'
    out.push({
      action: formatAction(call),
      error: failure !== undefined && options.convertParityErrors ? parityError(failure) : failure,
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

function isHidden({ opcode, to }: TracedCall, { isPrecompile }: FlatOptions): boolean {
  return (opcode === CALL || opcode === STATICCALL) && isPrecompile(to)
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
