import { LIMBS } from '../words/words.js'
import { ACCOUNTS } from './accounts.js'
import { ARITHMETIC } from './arithmetic.js'
import { CONTEXT } from './context.js'
import { FLOW } from './flow.js'
import { OF_ALL_FORKS } from './instructions.js'
import { LOGS } from './log.js'
import { MEMORY } from './memory.js'
import { STACK } from './stack.js'
import type { Step, Steps } from './step.js'
import { STORAGE } from './storage.js'

const STEPS: Steps = { ...ARITHMETIC, ...CONTEXT, ...ACCOUNTS, ...MEMORY, ...STORAGE, ...FLOW, ...STACK, ...LOGS }

/** Instructions by opcode. Undefined for calls and creations, which end a run of `runFrame`, and for unassigned
 *  opcodes. */
export const STEP_TABLE: readonly (Step | undefined)[] = OF_ALL_FORKS.map((instruction) =>
  instruction === undefined ? undefined : STEPS[instruction.mnemonic],
)

/** Limbs by which each instruction changes the stack's height. */
export const STACK_CHANGE: Int32Array = Int32Array.from(OF_ALL_FORKS, (instruction) =>
  instruction === undefined ? 0 : (instruction.pushes - instruction.pops) * LIMBS,
)
