import { keccak256 } from '../../../chain/crypto.js'
import type { Frame } from '../../../evm/interpreter/frame.js'
import type { Hooks, SteppedMachine } from '../../../evm/interpreter/hooks.js'
import type { MemoryMeter } from '../../../evm/interpreter/memoryMeter.js'
import { LIMBS, type Words } from '../../../evm/interpreter/words/words.js'
import { keyOfBytes } from '../../../lib/bytes.js'
import { formatData } from '../../../lib/hex.js'
import { byKey } from './prestate.js'

const KECCAK256 = 0x20
/** Maximum bytes beyond the memory that geth shows as zeros. */
const MAX_PADDING = 2n ** 20n
const MAX_INT64 = 2n ** 63n - 1n
// A preimage with its key and set entry.
const PREIMAGE_BYTES = 200

/** Records the inputs of KECCAK256 instructions, including those that run out of gas, as geth's tracers do. */
interface PreimageRecorder {
  /** The hooks throw CallMemoryExceeded. */
  readonly hooks: Hooks
  /** The distinct preimages in order of their first use. */
  preimages(): Uint8Array[]
}

/** Returns a recorder whose memory is counted by the meter. */
export function recordPreimages(meter: MemoryMeter): PreimageRecorder {
  const found = new Map<string, Uint8Array>()
  const hooks: Hooks = {
    step(machine, frame, op) {
      const preimage = op === KECCAK256 ? hashedMemory(machine, frame) : undefined
      if (preimage === undefined) return
      const key = keyOfBytes(preimage)
      if (found.has(key)) return
      meter.take(PREIMAGE_BYTES + 2 * preimage.length)
      found.set(key, preimage)
    },
    // A machine with `step` calls this.
    stepped() {},
  }
  return { hooks, preimages: () => [...found.values()] }
}

/** Formats the preimages by their hashes, as geth's keccak256PreimageTracer writes them. */
export function formatPreimages(preimages: readonly Uint8Array[]): Record<string, string> {
  return byKey(preimages.map((preimage) => [formatData(keccak256(preimage)), formatData(preimage)]))
}

/** A copy of the memory range on the stack, with zeros beyond the memory; undefined for one that geth does not show.
 *  Reads 64 bits of offset and length. */
function hashedMemory({ stack, memory }: SteppedMachine, frame: Frame): Uint8Array | undefined {
  const { sp, stackBase, memoryBase, memorySize } = frame
  if ((sp - stackBase) / LIMBS < 2) return undefined
  const [offset, length] = [low64(stack, sp - LIMBS), low64(stack, sp - 2 * LIMBS)]
  const end = offset + length
  if (offset > MAX_INT64 || length > MAX_INT64 || end - BigInt(memorySize) > MAX_PADDING) return undefined
  const out = new Uint8Array(Number(length))
  const [from, to] = [Number(offset), Math.min(Number(end), memorySize)]
  if (from < to) out.set(memory.subarray(memoryBase + from, memoryBase + to))
  return out
}

function low64(words: Words, at: number): bigint {
  return (BigInt(words[at + 1] >>> 0) << 32n) | BigInt(words[at] >>> 0)
}
