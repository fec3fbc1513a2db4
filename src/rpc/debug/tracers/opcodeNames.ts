import { opcodeName } from '../../../evm/interpreter/opcodes/instructions.js'

/** Names of the 256 opcodes, in geth's words. */
export const OPCODE_NAMES: readonly string[] = Array.from({ length: 256 }, (_, opcode) => opcodeName(opcode))
