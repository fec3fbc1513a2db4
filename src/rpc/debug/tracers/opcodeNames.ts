import { instructionsOf } from '../../../evm/interpreter/opcodes.js'

/** Names of the 256 opcodes, in geth's words. */
export const OPCODE_NAMES: readonly string[] = Array.from(
  instructionsOf(() => true),
  (instruction, opcode) => {
    if (opcode === 0xfe) return 'INVALID'
    return instruction?.mnemonic ?? `opcode 0x${opcode.toString(16)} not defined`
  },
)
