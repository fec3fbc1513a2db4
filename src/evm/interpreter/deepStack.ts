import { invalidOpcode, stackFailure } from './failures.js'
import { copyWord, LIMBS, swapWords, type Words } from './words/words.js'

const DUPN = 0xe6
const SWAPN = 0xe7

/** Executes DUPN, SWAPN or EXCHANGE (EIP-8024) with the immediate byte `x` on the stack from `base` to `sp`. Returns
 *  the failure; empty on success. */
export function deepStack(op: number, x: number, stack: Words, base: number, sp: number): string {
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
