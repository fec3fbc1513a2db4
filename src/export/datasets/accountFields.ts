import { equalBytes } from '../../lib/bytes.js'
import type { StateReads } from '../../store/state/stateReader.js'
import { type Cell, type Column, columns, toU64, uint256, uint256Cells } from '../columns.js'

/** A field of accounts, as datasets have it. */
export interface AccountField<V> {
  /** The columns of a value that is named so. */
  columns(name: string): readonly Column[]
  /** Returns the value after a block. @throws MissingState */
  at(state: StateReads, address: Uint8Array, blockNumber: number): V
  isSame(a: V, b: V): boolean
  /** The cells of a value: one for each of its columns. */
  cells(value: V): Cell[]
}

export const balanceField: AccountField<bigint> = {
  columns: uint256,
  at: (state, address, number) => state.balance(address, number),
  isSame: (a, b) => a === b,
  cells: uint256Cells,
}

export const nonceField: AccountField<bigint> = {
  columns: (name) => columns('u64', name),
  at: (state, address, number) => state.nonce(address, number),
  isSame: (a, b) => a === b,
  cells: (nonce) => [toU64(nonce)],
}

export const codeField: AccountField<Uint8Array> = {
  columns: (name) => columns('binary', name),
  at: (state, address, number) => state.code(address, number),
  isSame: equalBytes,
  cells: (code) => [code],
}
