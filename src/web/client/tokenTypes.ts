import type { Hex } from './types.js'

/* Results of the methods of tokens, as far as the page shows them. */

/** Standard of a token. */
export type TokenKind = 'erc20' | 'erc721' | 'erc1155'

/** What a token contract says about itself; null where its call fails. */
export interface TokenNames {
  readonly name: string | null
  readonly symbol: string | null
  /** 0 to 255. */
  readonly decimals: number | null
}

/** A result of `cairn_getToken`. */
export interface Token extends TokenNames {
  readonly address: Hex
  readonly kind: TokenKind
  readonly totalSupply: Hex | null
  /** Block of its first transfer. */
  readonly firstBlock: Hex | null
  readonly blockNumber: Hex
}

/** An entry of `cairn_getTokenTransfers`. */
export interface TransferEntry {
  readonly blockNumber: Hex
  readonly blockTimestamp: Hex
  readonly transactionHash: Hex
  readonly logIndex: Hex
  readonly batchIndex: Hex
  readonly token: Hex
  readonly kind: TokenKind
  readonly from: Hex
  readonly to: Hex
  readonly id: Hex | null
  readonly value: Hex
}

/** A page of `cairn_getTokenTransfers`. */
export interface TransferPage {
  readonly transfers: readonly TransferEntry[]
  readonly cursor: string | null
}

/** A balance by the logs and by the contract. */
export interface TokenBalance {
  readonly kind: TokenKind
  readonly id: Hex | null
  /** Null if the logs take more than they gave. */
  readonly balance: Hex | null
  /** Null if the contract does not answer. */
  readonly balanceOf: Hex | null
  /** Null if the contract does not answer. */
  readonly matches: boolean | null
}

/** An entry of `cairn_getTokenBalances`. */
export interface BalanceEntry extends TokenBalance, TokenNames {
  readonly token: Hex
}

/** A page of `cairn_getTokenBalances`. */
export interface BalancePage {
  readonly balances: readonly BalanceEntry[]
  readonly cursor: string | null
  readonly blockNumber: Hex
}

/** An entry of `cairn_getTokenHolders`. */
export interface HolderEntry extends TokenBalance {
  readonly holder: Hex
}

/** A page of `cairn_getTokenHolders`. */
export interface HolderPage {
  readonly holders: readonly HolderEntry[]
  /** Number of entries on all pages. */
  readonly count: Hex
  readonly isComplete: boolean
  readonly cursor: string | null
  readonly blockNumber: Hex
}
