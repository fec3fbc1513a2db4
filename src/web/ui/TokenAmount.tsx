import { useEffect, useState } from 'preact/hooks'
import { formatUnits } from 'viem'
import { readToken, type TokenFacts } from '../client/tokens.js'
import { cutMiddle, formatBriefly, formatDecimal } from '../format.js'
import { linkTo } from '../routing.js'
import { Name, useLabel } from './Name.js'

/** An amount of a token in its unit with six decimals, all of them as a hint, and its symbol; `isChange` shows the sign
 *  of a gain. */
export function TokenAmount(props: { token: string; amount: bigint; id: bigint | undefined; isChange?: boolean }) {
  const { token, amount, id, isChange = false } = props
  const facts = useToken(token)
  const label = useLabel(token)
  const decimals = id === undefined ? (facts?.decimals ?? 0) : 0
  const sign = amount < 0n ? '−' : isChange ? '+' : ''
  const size = amount < 0n ? -amount : amount
  const exact = formatUnits(size, decimals)
  const symbol = facts?.symbol ?? label?.text
  return (
    <span>
      <span title={sign + formatDecimal(exact)}>
        {sign}
        {formatBriefly(exact)}
      </span>{' '}
      <a href={linkTo('token', token)} title={token}>
        {symbol === undefined ? <code>{cutMiddle(token)}</code> : <Name text={symbol} />}
      </a>
      {id !== undefined && <span class="quiet"> #{String(id)}</span>}
      {id === undefined && facts !== undefined && facts.decimals === undefined && (
        <span class="quiet"> (smallest unit)</span>
      )}
    </span>
  )
}

function useToken(token: string): TokenFacts | undefined {
  const [facts, setFacts] = useState<TokenFacts | undefined>()
  useEffect(() => {
    let isCurrent = true
    void readToken(token).then((found) => isCurrent && setFacts(found))
    return () => {
      isCurrent = false
    }
  }, [token])
  return facts
}
