import { assembleModule, type Code, type FunctionCode, get, i32, i32s, i64s, set } from '../../../wasm/assembler.js'
import { keccakConstants, keccakFunction } from '../../../wasm/keccakModule.js'
import { arithmeticFunctions } from './arithmetic.js'
import { frameCases } from './frameOpcodes.js'
import { INSTRUCTIONS, KECCAK, MASKS, PAGES, REGISTERS, STACKS } from './layout.js'
import { NO_HASHES } from './mappingKeys.js'
import { writeExtendMemory } from './memoryRoom.js'
import { wordCases } from './wordOpcodes.js'
import { type Case, CoreWriter, NONE, register } from './writer.js'

/* The WebAssembly form of the `runFrame` loop, for instructions that need only stack, code and memory. Leaving an
 * instruction to `runFrame` is always correct: whatever may fail is left before it has any effect. */

/** The module's bytes. It exports `memory`, laid out as in `layout`, and `run(pc, sp, gas, checkAt)`, which executes
 *  instructions from `pc` until it meets one that it leaves, and returns the gas left; the registers say where it
 *  stopped. Jumps, hashes and powers are left if less gas than `checkAt` would remain. */
export function assembleWasmCore(): Uint8Array<ArrayBuffer> {
  const masks = [...new Array<number>(32).fill(0xff), ...new Array<number>(32).fill(0)]
  return assembleModule({
    pages: PAGES,
    functions: [...arithmeticFunctions(), keccakFunction(KECCAK), writeExtendMemory(), writeLoop(new CoreWriter())],
    data: [{ at: MASKS, bytes: masks }, { at: KECCAK, bytes: keccakConstants() }, ...NO_HASHES],
  })
}

/** Opcodes that the module executes. */
export function wasmOpcodes(): ReadonlySet<number> {
  return new Set(casesOf(new CoreWriter()).flatMap(({ codes }) => codes))
}

function casesOf(w: CoreWriter): Case[] {
  return [...wordCases(w), ...frameCases(w)]
}

function writeLoop(w: CoreWriter): FunctionCode {
  const { f } = w
  const cases = casesOf(w)
  f.put(
    set(w.code, register('code')),
    set(w.pc, i32s.add(get(w.code), get(w.pc))),
    set(w.base, stackAddress(register('stackBase'))),
    set(w.sp, stackAddress(get(w.sp))),
    set(w.gas, i64s.ofDouble(get(2))),
    set(w.checkAt, i64s.ofDouble(get(3))),
  )
  f.block('stop', () => {
    f.block('leave', () => {
      f.loop('next', () => writeCases(w, cases))
    })
    // Refunds its gas.
    f.put(set(w.gas, i64s.add(get(w.gas), i64s.load(get(w.row), 8))))
  })
  f.put(
    i32s.store(i32(REGISTERS.pc), 0, i32s.sub(get(w.pc), get(w.code))),
    i32s.store(i32(REGISTERS.sp), 0, i32s.right(i32s.sub(get(w.sp), i32(STACKS)), i32(2))),
    i64s.toDouble(get(w.gas)),
  )
  return f.end('run')
}

function stackAddress(limbs: Code): Code {
  return i32s.add(i32s.left(limbs, i32(2)), i32(STACKS))
}

/** Nested blocks, one per case: the code behind the end of block n is case n. */
function writeCases(w: CoreWriter, cases: readonly Case[]): void {
  const labels = new Array<string>(256).fill('leave')
  cases.forEach(({ codes }, n) => {
    for (const code of codes) labels[code] = `case ${n}`
  })
  const nest = (n: number): void => {
    if (n < 0) {
      writeDispatch(w, labels)
      return
    }
    w.f.block(`case ${n}`, () => nest(n - 1))
    cases[n].write()
  }
  nest(cases.length - 1)
}

function writeDispatch(w: CoreWriter, labels: readonly string[]): void {
  const { f } = w
  const height = i32s.sub(get(w.sp), get(w.base))
  const row = get(w.row)
  f.put(set(w.op, i32s.loadByte(get(w.pc))), set(w.row, i32s.add(i32s.left(get(w.op), i32(4)), i32(INSTRUCTIONS))))
  // One comparison: an underflow is a huge unsigned number.
  f.goToWhen('stop', i32s.isMore(i32s.sub(height, i32s.load(row)), i32s.load(row, 4)))
  f.put(set(w.gas, i64s.sub(get(w.gas), i64s.load(row, 8))))
  f.goToWhen('leave', i64s.isLessSigned(get(w.gas), NONE))
  f.goToOneOf(labels, 'leave', get(w.op))
}
