import type { Log } from '../../chain/eth/types.js'
import type { Frame } from './frame.js'
import type { EvmRules } from './rules.js'
import type { EvmState } from './state.js'
import type { Words } from './words/words.js'

/** A message call, contract creation or SELFDESTRUCT that begins. */
export interface EnteredCall {
  /** The instruction; CALL or CREATE for the message of a transaction. */
  readonly opcode: number
  readonly from: Uint8Array // 20
  /** The called account, the new contract, or the beneficiary: 20 bytes. */
  readonly to: Uint8Array
  /** Calldata or init code. */
  readonly input: Uint8Array
  readonly gas: bigint
  /** Wei; undefined for STATICCALL. DELEGATECALL has its caller's. */
  readonly value: bigint | undefined
}

/** A call or creation of an instruction that begins, without a copy of its bytes. */
export interface EnteredFrame extends Omit<EnteredCall, 'input'> {
  readonly inputLength: number
  /** The first four bytes of calldata, big-endian; undefined for shorter calldata, precompiles and creations. */
  readonly selector: number | undefined
  readonly isPrecompile: boolean
}

/** How a frame ended, without a copy of its output. */
export interface EndedFrame {
  readonly gasLeft: bigint
  readonly outputLength: number
  readonly failure: string | undefined
  /** Hash of the new code, 32 bytes; undefined unless a creation succeeded. */
  readonly codeHash: Uint8Array | undefined
}

/** How a call ended. */
export interface EndedCall {
  /** Return data, revert data, or the new code. It is not changed afterwards. */
  readonly output: Uint8Array
  readonly gasLeft: bigint
  /** Set if the call failed, in geth's words. */
  readonly failure?: string
}

/** The part of the machine that a tracer can read. */
export interface SteppedMachine {
  /** Stacks and memories of all frames, one after another. */
  readonly stack: Words
  readonly memory: Uint8Array
  readonly state: EvmState
  readonly rules: EvmRules
}

/** Events of an execution that a tracer receives. Without `step`, frames run at full speed. */
export interface Hooks {
  /** A call begins. One that cannot start is reported too, and ends at once. */
  enter?(call: EnteredCall): void
  /** The innermost call ends. */
  exit?(end: EndedCall): void
  /** Replaces `enter` for calls and creations of instructions. */
  enterFrame?(frame: EnteredFrame): void
  /** Replaces `exit` for calls and creations of instructions. Set together with `enterFrame`. */
  exitFrame?(end: EndedFrame): void
  log?(log: Log): void
  /** The instruction at `frame.pc` is about to run. With this hook, frames run one instruction at a time, unless
   *  `opcodes` are given. */
  step?(machine: SteppedMachine, frame: Frame, opcode: number): void
  /** The last announced instruction has run, or has reached the first instruction of its callee. `cost` includes the
   *  gas passed to a call. `failure` is set if it could not start, because it lacks gas or stack or must not write. */
  stepped?(machine: SteppedMachine, cost: number | bigint, failure: string | undefined): void
  /** The opcodes that `step` and `stepped` receive, with all calls and creations among them, and none that WebAssembly
   *  executes (`wasmOpcodes`): the others run at full speed. By opcode, 1 for these; default: all. */
  readonly opcodes?: Uint8Array
}
