import { FAILED_DEPOSIT } from '../../../evm/interpreter/failures.js'
import type { TracedCall } from '../../../evm/tracing/callTree.js'
import { formatData } from '../../../lib/hex.js'

const CALLS = new Set([0xf1, 0xf2, 0xf4, 0xfa])

/** Counts the calls of each selector and length of the remaining calldata, as geth's 4byteTracer does. */
export function countSelectors(
  root: TracedCall,
  isPrecompile: (address: Uint8Array) => boolean,
): Record<string, number> {
  const counts = new Map<string, number>()
  const count = ({ opcode, to, input, calls }: TracedCall) => {
    if (input.length >= 4 && CALLS.has(opcode) && !isPrecompile(to)) {
      const id = `${formatData(input.subarray(0, 4))}-${input.length - 4}`
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    for (const each of calls) count(each)
  }
  if (root.failure !== FAILED_DEPOSIT) count(root) // it has not run
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}
