import { enter, leave } from './calls.js'
import { invalidOpcode, OUT_OF_GAS, REVERTED_BY_CODE, stackFailure } from './failures.js'
import { CALLING, type Frame, HALTED, REVERTED, SUCCEEDED } from './frame.js'
import type { Hooks } from './hooks.js'
import type { Machine } from './machine.js'
import { STACK_CHANGE, STEP_TABLE } from './opcodes/table.js'
import { reportFrameEnd } from './reports.js'
import { settle } from './settle.js'
import { shortageOf } from './shortage.js'
import { enterStepped, reportFailure } from './steppedCosts.js'
import { MEMORY_SIZE, PC, SP } from './wasm/wasmCore.js'
import { LIMBS } from './words/words.js'

// Gas between two deadline checks: some tens of microseconds of cheap instructions; in the oldest forks, where reading
// an account costs 20 gas, some milliseconds of reads. Instructions that hooks observe take longer.
const CHECK_GAS = 20_000
const CHECK_GAS_OBSERVED = 768

/** What an instruction does to its frame: 0 if it continues. A call leaves the loop and its frame waits. */
const STATUS = new Uint8Array(256)
for (const op of [0xf0, 0xf1, 0xf2, 0xf4, 0xf5, 0xfa]) STATUS[op] = CALLING // CREATE to STATICCALL
for (const op of [0x00, 0xf3, 0xff]) STATUS[op] = SUCCEEDED // STOP, RETURN, SELFDESTRUCT
STATUS[0xfd] = REVERTED // REVERT

/** Runs a frame and all its calls, and notifies the machine's hooks. Returns the final status. Without recursion,
 *  because 1,024 frames may exceed the thread's stack. @throws DeadlineExceeded */
export function runFrames(machine: Machine, first: Frame): number {
  const { hooks } = machine
  const isObserved = hooks?.step !== undefined
  let frame = first
  for (;;) {
    if (++machine.framesEntered >= machine.pace.frames) {
      machine.framesEntered = 0
      machine.deadline.check()
    }
    let status = runFrame(machine, frame)
    if (status === CALLING) {
      const next = isObserved ? enterStepped(machine, frame, hooks) : enter(machine, frame)
      if (next !== undefined) {
        frame = next
        continue
      }
      frame.outputLength = 0
      status = HALTED
    }
    status = settle(machine, frame, status)
    if (frame.depth === 0) return status
    if (hooks !== undefined) {
      const failure = status === SUCCEEDED ? undefined : status === REVERTED ? REVERTED_BY_CODE : frame.failure
      reportFrameEnd(machine, frame, failure)
    }
    frame = leave(machine, frame, status === SUCCEEDED, status === REVERTED)
  }
}

/** Runs the frame's instructions until it ends or reaches a call: SUCCEEDED, REVERTED, HALTED or CALLING.
 *
 *  WebAssembly runs what it can, unless a hook observes each instruction. The loop reports those that are observed, but
 *  not the cost of a call (`enterStepped`). @throws DeadlineExceeded. */
function runFrame(machine: Machine, frame: Frame): number {
  const { rules, stack, wasmCore } = machine
  const { gas: gasOf, shownGas, need, room } = rules
  const { padded: code, length } = frame.code
  const { stackBase } = frame
  const observer = machine.hooks?.step === undefined ? undefined : machine.hooks
  if (observer !== undefined && length === 0) return SUCCEEDED // no instruction to report
  const observed = observer?.opcodes
  const isFast = observer === undefined || observed !== undefined
  const core = isFast && wasmCore?.stack === stack && wasmCore.enter(frame, rules) ? wasmCore : undefined
  const checkGas = isFast ? CHECK_GAS : CHECK_GAS_OBSERVED
  let { sp, gas } = frame
  let checkAt = gas - checkGas
  let memorySize = -1
  let spilled = 0
  for (;;) {
    if (core !== undefined) {
      if (frame.memorySize !== memorySize) {
        memorySize = frame.memorySize
        core.setMemory(frame, machine.memory === core.memory, machine.pace.memory)
      }
      gas = core.run(frame.pc, sp, gas, checkAt)
      frame.pc = core.registers[PC]
      sp = core.registers[SP]
      memorySize = core.registers[MEMORY_SIZE]
      frame.memorySize = memorySize
    }
    if (gas < checkAt) {
      machine.deadline.check()
      checkAt = gas - checkGas
    }
    const op = code[frame.pc]
    const hooks = observed === undefined || observed[op] === 1 ? observer : undefined
    if (hooks !== undefined) {
      frame.sp = sp
      frame.gas = gas
      spilled = frame.spilled
      machine.failedPrice = undefined
      hooks.step!(machine, frame, op)
    }
    const height = sp - stackBase
    if (height < need[op] || height > room[op]) {
      const failure = stackFailure(height / LIMBS, need[op] / LIMBS, room[op] / LIMBS)
      return haltUnpaid(machine, frame, hooks, op, failure)
    }
    let left = gas - gasOf[op]
    // Hooks see the whole price of an instruction whose constant part tracers do not show.
    if (hooks === undefined ? left < 0 : gas < shownGas[op] || left === -Infinity) {
      return haltUnpaid(machine, frame, hooks, op, constantFailure(machine, frame, op, sp))
    }
    frame.pc++
    const status = STATUS[op]
    if (status === CALLING) {
      frame.sp = sp
      frame.gas = left
      frame.callOpcode = op
      return CALLING
    }
    left = STEP_TABLE[op]!(machine, frame, left, sp)
    if (left < 0 || frame.failure !== '') {
      if (hooks !== undefined) reportFailure(machine, frame, hooks, { op, sp, used: gas - left })
      else if (frame.failure === '') frame.failure = shortageOf(machine, frame, op, sp).failure
      frame.outputLength = 0
      return HALTED
    }
    // The cost excludes state gas, as in geth.
    if (hooks !== undefined) hooks.stepped!(machine, gas - left - (frame.spilled - spilled), undefined)
    gas = left
    sp += STACK_CHANGE[op]
    if (status !== 0) {
      frame.sp = sp
      frame.gas = gas
      return status
    }
  }
}

/** Returns why the constant gas of an instruction could not be paid: the fork may not have it. */
function constantFailure(machine: Machine, frame: Frame, op: number, sp: number): string {
  const { gas, shownGas } = machine.rules
  if (gas[op] === Infinity) return invalidOpcode(op)
  return shownGas[op] === 0 ? shortageOf(machine, frame, op, sp).failure : OUT_OF_GAS
}

/** Halts the frame at an instruction that does not run. geth runs one that the fork does not have, and it fails. */
function haltUnpaid(machine: Machine, frame: Frame, hooks: Hooks | undefined, op: number, failure: string): number {
  const { gas, shownGas } = machine.rules
  if (gas[op] === Infinity) hooks?.stepped?.(machine, 0, undefined)
  else hooks?.stepped?.(machine, shownGas[op], failure)
  frame.failure = failure
  frame.outputLength = 0
  return HALTED
}
