import { formatData } from '../../src/lib/hex.js'
import { assemble } from '../fixture/assembler.js'
import { createMergedGenesis } from '../fixture/mergedGenesis.js'

/* Contracts that use up memory or time, in the genesis of the chain that is attacked. Each takes a number as its
 * calldata. */

const CODES = {
  /** Never ends. */
  endless: ':loop @loop jump',
  /** Expands the memory to N bytes. */
  memory: '0 calldataload mload pop stop',
  /** Expands the memory to N bytes in each of as many nested frames as there may be. */
  frames: '0 calldataload mload pop 0 calldataload 0 mstore 0 0 32 0 0 address gas call stop',
  /** Returns N zero bytes. */
  returns: '0 calldataload 0 return',
  /** Reverts with N zero bytes. */
  reverts: '0 calldataload 0 revert',
  /** Logs N zero bytes again and again. */
  logs: ':loop 0 calldataload 0 log0 @loop jump',
  /** Calls the identity precompile with N bytes in each nested frame and holds what it returns. */
  returnData: '0 0 0 calldataload 0 4 gas staticcall pop 0 calldataload 0 mstore 0 0 32 0 0 address gas call stop',
  /** Writes one transient slot after another. */
  slots: '0 :loop 1 add dup1 dup1 tstore @loop jump',
  /** Reads one cold slot after another. */
  reads: '0 :loop 1 add dup1 sload pop @loop jump',
} as const

/** A contract of the attacked chain. */
export type Bomb = keyof typeof CODES

const NAMES = Object.keys(CODES) as Bomb[]

/** The address of a bomb, 20 bytes as hex. */
export function bombAddress(bomb: Bomb): string {
  return `0x${'b0'.repeat(19)}${(NAMES.indexOf(bomb) + 1).toString(16).padStart(2, '0')}`
}

/** Parameters of an eth_call of the bomb; another `gas` makes another call of it for every cache. */
export function callBomb(bomb: Bomb, size: number, gas?: number): unknown[] {
  const data = `0x${size.toString(16).padStart(64, '0')}`
  return [{ to: bombAddress(bomb), data, ...(gas === undefined ? {} : { gas: `0x${gas.toString(16)}` }) }, 'latest']
}

/** A genesis with the bombs, and a gas limit that no chain has. */
export function createBombGenesis(): object {
  const alloc = Object.fromEntries(
    NAMES.map((name) => [bombAddress(name), { balance: '0x0', code: formatData(assemble(CODES[name])) }]),
  )
  return createMergedGenesis({ chainId: 20_263, gasLimit: '0x38d7ea4c68000', alloc })
}
