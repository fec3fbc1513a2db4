import type { TokenBalance } from '../client/tokenTypes.js'
import { likelyBalance } from '../tokenRows.js'
import { TokenNumber } from '../ui/TokenAmount.js'

/** A balance of a token: that of the contract, with that of the logs where they differ, or that of the logs alone. */
export function BalanceOfToken({ entry, decimals }: { entry: TokenBalance; decimals: number | null }) {
  const { kind, balance, balanceOf, matches } = entry
  const shown = likelyBalance(entry)
  const unit = kind === 'erc20' ? decimals : 0
  return (
    <span class="stack">
      {shown === undefined ? (
        <span class="quiet">unknown</span>
      ) : (
        <span>
          {unit === null && <span class="quiet wide">(smallest unit) </span>}
          <TokenNumber amount={shown} decimals={unit} />
        </span>
      )}
      {matches === false && (
        <span class="quiet" title="The sum of the transfer logs differs from the answer of the contract">
          by logs {balance === null ? 'below 0' : <TokenNumber amount={BigInt(balance)} decimals={unit} />}
        </span>
      )}
      {balanceOf === null && shown !== undefined && (
        <span class="quiet" title="The contract does not answer">
          by logs
        </span>
      )}
    </span>
  )
}
