import { invalidOpcode, stackFailure } from '../failures.js'
import { copyWord, LIMBS, setBytes, setSmall, swapWords, type Words } from '../words/words.js'
import { onStack, type Step, type Steps } from './step.js'

const DUPN = 0xe6
const SWAPN = 0xe7
const EXCHANGE = 0xe8

const push =
  (size: number): Step =>
  ({ stack }, frame, gas, sp) => {
    setBytes(stack, sp, frame.code.padded, frame.pc, size)
    frame.pc += size
    return gas
  }

const deep =
  (opcode: number): Step =>
  ({ stack }, frame, gas, sp) => {
    frame.failure = deepStack(opcode, frame.code.padded[frame.pc], stack, frame.stackBase, sp)
    frame.pc++
    return gas
  }

const numbered = (name: string, most: number, step: (n: number) => Step): Steps =>
  Object.fromEntries(Array.from({ length: most }, (_, i) => [`${name}${i + 1}`, step(i + 1)]))

/** Instructions that move words of the stack. */
export const STACK: Steps = {
  POP: onStack(() => {}),
  PUSH0: onStack((stack, sp) => setSmall(stack, sp, 0)),
  ...numbered('PUSH', 32, push),
  ...numbered('DUP', 16, (n) => onStack((stack, sp) => copyWord(stack, sp - n * LIMBS, stack, sp))),
  ...numbered('SWAP', 16, (n) => onStack((stack, sp) => swapWords(stack, sp - LIMBS, sp - (n + 1) * LIMBS))),
  DUPN: deep(DUPN),
  SWAPN: deep(SWAPN),
  EXCHANGE: deep(EXCHANGE),
}

/** Executes DUPN, SWAPN or EXCHANGE (EIP-8024) with the immediate byte `x` on the stack from `base` to `sp`. Returns
 *  the failure; empty on success. */
function deepStack(op: number, x: number, stack: Words, base: number, sp: number): string {
  const isExchange = op !== DUPN && op !== SWAPN
  // The analysis of jump targets ignores immediates and would read these bytes as JUMPDEST or PUSH.
  if (x <= 127 && x >= (isExchange ? 82 : 91)) return invalidOpcode(op, x)
  const height = (sp - base) / LIMBS
  let upper = 1
  let lower = (x + 145) & 0xff
  if (op === SWAPN) lower += 1
  else if (isExchange) {
    const pair = x ^ 143
    const q = pair >>> 4
    const r = pair & 15
    upper = q < r ? q + 2 : r + 2
    lower = q < r ? r + 2 : 30 - q
  }
  if (height < lower) return stackFailure(height, lower, 0)
  if (op === DUPN) copyWord(stack, sp - lower * LIMBS, stack, sp)
  else swapWords(stack, sp - upper * LIMBS, sp - lower * LIMBS)
  return ''
}
