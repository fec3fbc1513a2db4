import { CALLCODE, DELEGATECALL, STATICCALL } from '../../chain/eth/callOpcodes.js'
import type { CallTrace } from './callTraces.js'

/** A call of a transaction, located as `trace_` methods do. */
export interface PlacedCall<Address> {
  readonly call: CallTrace<Address>
  /** Indexes of the calls around it and of itself, each among the calls of the one before. */
  readonly traceAddress: readonly number[]
  /** Number of calls that it makes itself. */
  readonly subtraces: number
  /** True if it or a call around it failed: it has no effect. */
  readonly isReverted: boolean
}

/** Locates the calls of a transaction, which are in the order in which they began. Calls of a precompile without value
 *  are left out below the first, as `trace_` methods do. */
export function placeCalls<Address>(calls: Iterable<CallTrace<Address>>): PlacedCall<Address>[] {
  const placed: PlacedCall<Address>[] = []
  const open: { traceAddress: number[]; subtraces: number; isReverted: boolean }[] = []
  for (const call of calls) {
    const { depth, isPrecompile, value = 0n, failure } = call
    if (depth > 0 && isPrecompile && value === 0n) continue
    const around = depth === 0 ? undefined : open[depth - 1]
    const own = {
      call,
      traceAddress: around === undefined ? [] : [...around.traceAddress, around.subtraces++],
      subtraces: 0,
      isReverted: failure !== undefined || around?.isReverted === true,
    }
    open[depth] = own
    placed.push(own)
  }
  return placed
}

/** Yields the calls that took effect: neither they nor a call around them failed. */
export function* effectiveTraces<Address>(calls: Iterable<CallTrace<Address>>): Generator<CallTrace<Address>> {
  let failedAt = Number.POSITIVE_INFINITY
  for (const call of calls) {
    if (call.depth > failedAt) continue
    failedAt = call.failure === undefined ? Number.POSITIVE_INFINITY : call.depth
    if (call.failure === undefined) yield call
  }
}

/** True for a call, creation or SELFDESTRUCT that moves ether from `from` to `to` where it takes effect. */
export function movesEther({ opcode, value = 0n }: Pick<CallTrace, 'opcode' | 'value'>): boolean {
  return value > 0n && opcode !== CALLCODE && opcode !== DELEGATECALL && opcode !== STATICCALL
}
