import { isCreation } from '../../../chain/eth/callOpcodes.js'
import { decodeRevertReason } from '../../../decoding/revertReason.js'
import { FAILED_DEPOSIT } from '../../../evm/interpreter/failures.js'
import type { TracedCall } from '../../../evm/tracing/callTree.js'
import { formatData, formatQuantity } from '../../../lib/hex.js'
import { OPCODE_NAMES } from './opcodeNames.js'

/** Members that are undefined are absent. */
interface CallFrameJson {
  readonly from: string
  readonly gas: string
  readonly gasUsed: string
  readonly to?: string
  readonly input: string
  readonly output?: string
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly CallFrameJson[]
  readonly logs?: readonly object[]
  readonly value?: string
  readonly type: string
}

/** A call as geth's callTracer writes it. `logsBefore` is the number of the block's logs before the transaction. */
export function formatCallFrame(call: TracedCall, logsBefore: number): CallFrameJson {
  const { failure, output } = call
  const isReverted = failure === 'execution reverted'
  if (failure === FAILED_DEPOSIT) return formatFailedDeposit(call)
  const hasOutput = output.length > 0 && (failure === undefined || isReverted)
  return {
    from: formatData(call.from),
    gas: formatQuantity(call.gas),
    gasUsed: formatQuantity(call.gasUsed),
    to: failure !== undefined && isCreation(call) ? undefined : formatData(call.to),
    input: formatData(call.input),
    output: hasOutput ? formatData(output) : undefined,
    error: failure,
    revertReason: (isReverted && decodeRevertReason(output)) || undefined,
    calls: call.calls.length > 0 ? call.calls.map((each) => formatCallFrame(each, logsBefore)) : undefined,
    logs: call.logs.length > 0 ? formatLogs(call, logsBefore) : undefined,
    value: call.value === undefined ? undefined : formatQuantity(call.value),
    type: OPCODE_NAMES[call.opcode],
  }
}

/** As op-geth shows it: nothing of the call is there. */
function formatFailedDeposit({ gasUsed, failure }: TracedCall): CallFrameJson {
  const from = formatData(new Uint8Array(20))
  return { from, gas: '0x0', gasUsed: formatQuantity(gasUsed), input: '0x', error: failure, type: 'STOP' }
}

function formatLogs({ logs }: TracedCall, logsBefore: number): object[] {
  return logs.map(({ address, topics, data, index, position }) => ({
    address: formatData(address),
    topics: topics.map(formatData),
    data: formatData(data),
    index: formatQuantity(logsBefore + index),
    position: formatQuantity(position),
  }))
}
