import { WRITE_PROTECTION } from '../failures.js'
import type { Frame } from '../frame.js'
import { countWork, type Machine, payMemory } from '../machine.js'
import { toIndex } from '../words/words.js'
import { rangeEnd } from './memory.js'
import { failPaid, type Step, type Steps } from './step.js'

const LOG_BYTE_GAS = 8

const logging =
  (topicCount: number): Step =>
  (machine, frame, gas, sp) =>
    log(machine, frame, gas, sp, topicCount)

/** LOG0 to LOG4. */
export const LOGS: Steps = Object.fromEntries([0, 1, 2, 3, 4].map((count) => [`LOG${count}`, logging(count)]))

function log(machine: Machine, frame: Frame, gas: number, sp: number, topicCount: number): number {
  const { stack } = machine
  const offset = toIndex(stack, sp - 8)
  const length = toIndex(stack, sp - 16)
  const left = payMemory(machine, frame, gas - LOG_BYTE_GAS * length, rangeEnd(offset, length))
  if (left < 0) return left
  if (frame.isStatic) return failPaid(machine, frame, gas - left, WRITE_PROTECTION)
  countWork(machine, length)
  if (!machine.keepsLogs) return left
  const topics = topicsAt(machine, sp - 24, topicCount)
  const data = new Uint8Array(length)
  if (length > 0) copyBytes(machine.memory, frame.memoryBase + offset, data)
  const entry = { address: frame.account.address, topics, data }
  machine.state.addLog(entry)
  if (machine.hooks !== undefined) machine.hooks.log?.(entry)
  return left
}

/** The topics on the stack from `at`. Array literals take a third of the memory of arrays that have grown. */
function topicsAt({ topics, stack }: Machine, at: number, count: number): Uint8Array[] {
  if (count === 0) return []
  const first = topics.of(stack, at)
  if (count === 1) return [first]
  const second = topics.of(stack, at - 8)
  if (count === 2) return [first, second]
  const third = topics.of(stack, at - 16)
  return count === 3 ? [first, second, third] : [first, second, third, topics.of(stack, at - 24)]
}

/** Fills `out` with bytes from `from` on. A single word, the usual case, is copied faster without a view. */
function copyBytes(bytes: Uint8Array, from: number, out: Uint8Array): void {
  if (out.length > 32) out.set(bytes.subarray(from, from + out.length))
  else for (let i = 0; i < out.length; i++) out[i] = bytes[from + i]
}
