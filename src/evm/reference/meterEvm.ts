import type { EVM } from '@ethereumjs/evm'
import type { MemoryMeter } from '../interpreter/memoryMeter.js'

/** Members metered here are protected in the package, or typed in files that it does not export. */
interface Inner {
  _opcodeMap: { opcodeInfo: { isInvalid: boolean }; opHandler: Handler }[]
  runInterpreter(...args: unknown[]): Promise<unknown>
}

interface RunState {
  memory: { _store: Uint8Array }
  returnBytes: Uint8Array
  interpreter: { _result: { logs: unknown[] } }
}

type Handler = (runState: RunState, common: EVM['common']) => void | Promise<void>

// KECCAK256, the copies, MLOAD, MSTORE, MSTORE8, MCOPY, creations and calls.
const MEMORY_OPCODES = [0x20, 0x37, 0x39, 0x3c, 0x3e, 0x51, 0x52, 0x53, 0x5e, 0xf0, 0xf1, 0xf2, 0xf4, 0xf5, 0xfa]
const LOG_OPCODES = [0xa0, 0xa1, 0xa2, 0xa3, 0xa4]
const TSTORE = 0x5d
// The value with its key, its map entry, and its old value.
const TRANSIENT_BYTES = 300

/** Makes an @ethereumjs EVM for calls report memory, return data and transient storage to the meter, and keep no logs.
 *  The package allocates first, so at most the memory that the gas of one instruction buys is unmetered. */
export function meterEvm(evm: EVM, meter: MemoryMeter): void {
  const inner = evm as unknown as Inner
  const takenBy: number[] = [] // frames in progress
  const runInterpreter = inner.runInterpreter.bind(inner)
  inner.runInterpreter = async (...args) => {
    const depth = takenBy.push(0) - 1
    try {
      return await runInterpreter(...args)
    } finally {
      meter.give(takenBy[depth])
      takenBy.length = depth
    }
  }
  const count = ({ memory, returnBytes }: RunState) => {
    const frame = takenBy.length - 1
    const bytes = memory._store.length + returnBytes.length
    const more = bytes - takenBy[frame]
    if (more <= 0) return
    meter.take(more)
    takenBy[frame] = bytes
  }
  for (const code of MEMORY_OPCODES) after(inner, code, count)
  for (const code of LOG_OPCODES) {
    after(inner, code, (runState) => {
      runState.interpreter._result.logs.length = 0
      count(runState)
    })
  }
  after(inner, TSTORE, () => meter.take(TRANSIENT_BYTES))
}

/** Adds a step after an instruction; it may throw. */
function after({ _opcodeMap }: Inner, code: number, step: (runState: RunState) => void): void {
  const entry = _opcodeMap[code]
  if (entry.opcodeInfo.isInvalid) return // not in this fork
  const own = entry.opHandler
  _opcodeMap[code] = {
    ...entry,
    opHandler: (runState, common) => {
      const done = own(runState, common)
      if (done instanceof Promise) return done.then(() => step(runState))
      step(runState)
    },
  }
}
