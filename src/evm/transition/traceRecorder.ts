import { keccak256 } from '../../chain/crypto.js'
import { CREATE, isCreation } from '../../chain/eth/callOpcodes.js'
import type { CallTrace } from '../../store/rows/callTraces.js'
import type { EndedCall, EndedFrame, EnteredCall, EnteredFrame, Hooks } from '../interpreter/hooks.js'
import { type Machine, precompileAt } from '../interpreter/machine.js'
import { LIMBS, setBytes } from '../interpreter/words/words.js'

const SELECTOR_BYTES = 4

type OpenTrace = { -readonly [K in keyof CallTrace]: CallTrace[K] }

/** Records the calls of transactions as the trace index has them: without inputs and outputs, and without a hook for
 *  each instruction, so that frames run at full speed. */
export class TraceRecorder implements Hooks {
  /** By transaction, its calls in the order in which they began. */
  readonly transactions: CallTrace[][] = []
  private readonly machine: Machine
  private readonly open: OpenTrace[] = []

  constructor(machine: Machine) {
    this.machine = machine
  }

  /** The message of a transaction, or a SELFDESTRUCT. */
  enter({ opcode, from, to, input, gas, value }: EnteredCall): void {
    const isMessage = this.open.length === 0
    if (isMessage) this.transactions.push([])
    const isCall = isMessage && opcode !== CREATE
    const isPrecompile = isCall && this.isPrecompile(to)
    const hasSelector = isCall && !isPrecompile && input.length >= SELECTOR_BYTES
    const selector = hasSelector ? new DataView(input.buffer, input.byteOffset).getUint32(0) : undefined
    this.enterFrame({ opcode, from, to, gas, value, inputLength: input.length, selector, isPrecompile })
  }

  exit({ output, gasLeft, failure }: EndedCall): void {
    const isCreated = failure === undefined && isCreation(this.open[this.open.length - 1])
    const codeHash = isCreated ? keccak256(output) : undefined
    this.exitFrame({ gasLeft, outputLength: output.length, failure, codeHash })
  }

  enterFrame({ opcode, from, to, gas, value, inputLength, selector, isPrecompile }: EnteredFrame): void {
    // Members one by one: all traces have one hidden class.
    const trace: OpenTrace = {
      opcode,
      depth: this.open.length,
      from,
      to,
      value,
      gas,
      gasUsed: 0n,
      isPrecompile,
      inputLength,
      selector,
      outputLength: 0,
      failure: undefined,
      codeHash: undefined,
    }
    this.transactions[this.transactions.length - 1].push(trace)
    this.open.push(trace)
  }

  exitFrame({ gasLeft, outputLength, failure, codeHash }: EndedFrame): void {
    const trace = this.open.pop()!
    trace.gasUsed = trace.gas - gasLeft
    trace.outputLength = outputLength
    trace.failure = failure
    trace.codeHash = codeHash
  }

  private isPrecompile(address: Uint8Array): boolean {
    const word = new Int32Array(LIMBS)
    setBytes(word, 0, address, 0, 20)
    return precompileAt(this.machine, word) !== undefined
  }
}
