import type { Hex } from './types.js'

/* Results of the methods of storage and sources, as far as the page shows them. */

/** An entry of `cairn_getStorageVariables`. */
export interface StorageVariable {
  readonly name: string
  readonly type: string
  readonly slot: Hex
  readonly offset: number
  /** Null for what has parts, and for mappings. */
  readonly value: string | boolean | null
  readonly parts?: readonly StorageVariable[]
  /** Elements of an array, bytes of a string. */
  readonly length?: Hex
  /** Type of the keys of a mapping. */
  readonly keyType?: string
  readonly isCut: boolean
}

/** A variable that a path leads to. */
export interface FoundVariable {
  readonly path: readonly string[]
  readonly variable: StorageVariable
}

/** An entry of `cairn_getContractSources`. */
export interface ContractSources {
  readonly name: string
  readonly address: Hex
  readonly files: readonly { readonly path: string; readonly content: string }[]
}
