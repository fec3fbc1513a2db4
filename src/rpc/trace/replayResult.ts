import { recordCalls } from '../../evm/tracing/callTree.js'
import type { Execution } from '../../evm/tracing/execution.js'
import { recordExecutionState } from '../../evm/tracing/executionState.js'
import { parityFlatOptions } from '../../evm/tracing/flatCalls.js'
import { type AccountFields, fieldsOf, slotValue, type TouchedState } from '../../evm/tracing/stateRecorder.js'
import { type CodeTrace, recordCode, type TracedStep } from '../../evm/tracing/vmTrace.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { finite } from '../core/finite.js'
import { arrayOf, oneOf, required, type ValueType } from '../core/params.js'
import { flattenCalls } from '../debug/tracers/flatCalls.js'
import { OPCODE_NAMES } from '../debug/tracers/opcodeNames.js'
import { byKey } from '../debug/tracers/prestate.js'
import { joinHooks } from '../debug/tracers/tracers.js'
import { unplaced } from './flatTraces.js'

const KINDS = ['trace', 'stateDiff', 'vmTrace'] as const
/** A kind of trace of a replay. */
export type Kind = (typeof KINDS)[number]

/** The requested kinds of traces. */
export const traceKinds: ValueType<Kind[]> = arrayOf(oneOf(KINDS))
export const traceKindsParam = required('traceTypes', traceKinds, 'any of `trace`, `stateDiff`, `vmTrace`')

/** Runs the execution and returns the requested traces, in OpenEthereum's shape. @throws DeadlineExceeded,
 *  CallMemoryExceeded */
export function replayResult(execution: Execution, kinds: readonly Kind[]): object {
  const { journal } = execution
  const calls = kinds.includes('trace') ? recordCalls(journal.meter) : undefined
  const state = kinds.includes('stateDiff') ? recordExecutionState(execution) : undefined
  const code = kinds.includes('vmTrace') ? recordCode(journal.meter) : undefined
  const hooks = [calls, state, code].flatMap((recorder) => recorder?.hooks ?? [])
  const { output } = execution.run(hooks.length === 0 ? undefined : joinHooks(hooks))
  return {
    output: formatData(output),
    stateDiff: state === undefined ? null : formatStateDiff(state.touched.values(), execution),
    trace: calls === undefined ? [] : flattenCalls(calls.root(), parityFlatOptions(execution)).map(unplaced),
    vmTrace: formatCode(code?.root()),
  }
}

type Change = '=' | { '+': string } | { '-': string } | { '*': { from: string; to: string } }

function formatStateDiff(touched: Iterable<TouchedState>, { journal }: Execution): object {
  const entries: [string, object][] = []
  for (const before of touched) {
    const after = fieldsOf(journal, before.address)
    const storage = formatSlots(before, after, journal)
    if (!before.exists && !after.exists) continue
    const change = (of: (fields: AccountFields) => string) => changeOf(before, after, of)
    const diff = {
      balance: change(({ balance }) => formatQuantity(balance)),
      code: change(({ code }) => formatData(code)),
      nonce: change(({ nonce }) => formatQuantity(nonce)),
      storage,
    }
    const isSame = diff.balance === '=' && diff.code === '=' && diff.nonce === '=' && Object.keys(storage).length === 0
    if (!isSame) entries.push([formatData(before.address), diff])
  }
  return byKey(entries)
}

function changeOf(before: AccountFields, after: AccountFields, of: (fields: AccountFields) => string): Change {
  if (!before.exists) return { '+': of(after) }
  if (!after.exists) return { '-': of(before) }
  const [from, to] = [of(before), of(after)]
  return from === to ? '=' : { '*': { from, to } }
}

function formatSlots(
  before: TouchedState,
  after: AccountFields,
  journal: Execution['journal'],
): Record<string, Change> {
  const entries: [string, Change][] = []
  for (const { slot, value } of before.slots.values()) {
    const now = slotValue(journal, before.address, slot)
    if (equalBytes(value, now)) continue
    const [from, to] = [formatData(value), formatData(now)]
    const change = !before.exists ? { '+': to } : !after.exists ? { '-': from } : { '*': { from, to } }
    entries.push([formatData(slot), change])
  }
  return byKey(entries)
}

function formatCode(trace: CodeTrace | undefined): object | null {
  return trace === undefined ? null : { code: formatData(trace.code), ops: trace.steps.map(formatStep) }
}

function formatStep({ pc, opcode, cost, effect, sub }: TracedStep): object {
  const { memory, stored } = effect ?? {}
  const ex = effect && {
    mem: memory === undefined ? null : { data: formatData(memory.bytes), off: memory.offset },
    push: effect.pushed.map(formatQuantity),
    store: stored === undefined ? null : { key: formatQuantity(stored.slot), val: formatQuantity(stored.value) },
    used: finite(effect.gasLeft),
  }
  return { cost: finite(cost), ex: ex ?? null, pc, sub: formatCode(sub), op: OPCODE_NAMES[opcode] }
}
