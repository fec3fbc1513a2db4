/* Contracts that take as much memory as their gas buys, each in another way: code in hex. */

/** Touches 1 MiB of memory and calls itself, each frame below the last. */
const MEMORY = '5f620fffe052 5f5f5f5f5f305af1 00'
/** Has 1 MiB returned to it, and calls itself with that kept. */
const RETURN_DATA = '5f5f62100000 5f5f60045af150 5f5f5f5f5f305af1 00'
/** Loops: LOG0 of 1 MiB; writes of new transient slots, new slots, the same slot; balances of new addresses. */
const LOGS = '5b 62100000 5f a0 5f56'
const TRANSIENT = '5b5a5a5d5f56'
const STORAGE = '5b5a5a555f56'
const UNDO = '5b5a5f555f56'
const ACCOUNTS = '5b5a31505f56'

/** Those that a budget of memory ends. */
export const MEMORY_BOMBS = { MEMORY, RETURN_DATA, TRANSIENT, STORAGE, UNDO, ACCOUNTS }

/** The one that takes no memory where logs are not wanted. */
export const LOG_BOMB = LOGS

/** Code that returns, or reverts with, `length` zero bytes. */
export const output = (length: number, opcode: 'return' | 'revert') =>
  `63${length.toString(16).padStart(8, '0')}5f${opcode === 'return' ? 'f3' : 'fd'}`

/** The code as a member of a genesis. */
export const asCode = (hex: string) => `0x${hex.replaceAll(' ', '')}`
