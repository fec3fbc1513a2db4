import type { BalanceEntry, HolderEntry, TokenBalance, TokenKind, TransferEntry } from './client/tokenTypes.js'
import { formatShare, formatTime } from './format.js'

/* Rows of tokens as the page shows and saves them. Pure functions, without the browser. */

const KINDS: Record<TokenKind, string> = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }

/** Formats a kind of token: `ERC-20`. */
export function formatKind(kind: TokenKind): string {
  return KINDS[kind]
}

/** Returns the balance of the contract, else that of the logs; undefined if both are unknown. */
export function likelyBalance({ balance, balanceOf }: TokenBalance): bigint | undefined {
  const found = balanceOf ?? balance
  return found === null ? undefined : BigInt(found)
}

/** Returns whether an account has some of a token, or its logs and its contract disagree. */
export function isShownBalance(entry: TokenBalance): boolean {
  return likelyBalance(entry) !== 0n || entry.matches === false
}

/** Formats a share of the supply in percent: `12.3 %`; `< 0.1 %` for a smaller one above zero. */
export function formatSupplyShare(balance: bigint, supply: bigint): string {
  if (balance > 0n && balance * 1000n < supply) return '< 0.1 %'
  return formatShare(balance, supply)
}

const decimal = (value: string | null) => (value === null ? '' : String(BigInt(value)))

/** Returns a transfer as a row of a file: numbers are decimal, values in the smallest unit, times UTC. */
export function transferRow(entry: TransferEntry) {
  return {
    block_number: Number(entry.blockNumber),
    time: formatTime(BigInt(entry.blockTimestamp)),
    transaction_hash: entry.transactionHash,
    log_index: Number(entry.logIndex),
    batch_index: Number(entry.batchIndex),
    token: entry.token,
    kind: entry.kind,
    from: entry.from,
    to: entry.to,
    id: decimal(entry.id),
    value: decimal(entry.value),
  }
}

/** Returns a holder as a row of a file: numbers are decimal, balances in the smallest unit; empty if unknown. */
export function holderRow({ holder, kind, id, balance, balanceOf }: HolderEntry) {
  return { holder, kind, id: decimal(id), balance_by_logs: decimal(balance), balance_of: decimal(balanceOf) }
}

/** Returns a balance as a row of a file, like `holderRow`. */
export function balanceRow({ token, name, symbol, decimals, kind, id, balance, balanceOf }: BalanceEntry) {
  const names = { name: name ?? '', symbol: symbol ?? '', decimals: decimals ?? '' }
  return { token, ...names, kind, id: decimal(id), balance_by_logs: decimal(balance), balance_of: decimal(balanceOf) }
}
