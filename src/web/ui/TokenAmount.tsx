import { useEffect, useState } from 'preact/hooks'
import { formatUnits } from 'viem'
import { readToken } from '../client/tokens.js'
import type { TokenNames } from '../client/tokenTypes.js'
import { cutMiddle, formatBriefly, formatDecimal } from '../format.js'
import { linkTo } from '../routing.js'
import { ETHER_LOGS } from '../tokenTransfers.js'
import { Name, useLabel } from './Name.js'

/** An amount of a token in its unit with six decimals, all of them as a hint, and its symbol; `isChange` shows the sign
 *  of a gain. */
export function TokenAmount(props: { token: string; amount: bigint; id: bigint | undefined; isChange?: boolean }) {
  const { token, amount, id, isChange } = props
  const names = useToken(token)
  return (
    <span class="token-amount">
      <TokenNumber amount={amount} decimals={id === undefined ? names?.decimals : 0} isChange={isChange} />{' '}
      <TokenLink token={token} names={names} isSymbol />
      {id !== undefined && <TokenId id={id} />}
      {id === undefined && names?.decimals === null && <span class="quiet wide"> (smallest unit)</span>}
    </span>
  )
}

/** A number of tokens with six decimals, all of them as a hint. Without `decimals` it is in the smallest unit. */
export function TokenNumber(props: { amount: bigint; decimals: number | null | undefined; isChange?: boolean }) {
  const { amount, decimals, isChange = false } = props
  const sign = amount < 0n ? '−' : isChange ? '+' : ''
  const exact = formatUnits(amount < 0n ? -amount : amount, decimals ?? 0)
  return (
    <span class="number" title={sign + formatDecimal(exact)}>
      {sign}
      {formatBriefly(exact)}
    </span>
  )
}

/** A link to the page of a token: its name, or its symbol if `isSymbol`; its label or its address if it has neither. */
export function TokenLink(props: { token: string; names: TokenNames | undefined; isSymbol?: boolean }) {
  const { token, names, isSymbol = false } = props
  const label = useLabel(token)
  const text = (isSymbol ? names?.symbol : names?.name || names?.symbol) || label?.text
  if (token === ETHER_LOGS) return <span class="token">{text}</span>
  return (
    <a class="token" href={linkTo('token', token)} title={token}>
      {text ? <Name text={text} /> : <code>{cutMiddle(token, 6, 4)}</code>}
    </a>
  )
}

/** The id of an NFT, truncated in the middle. */
export function TokenId({ id }: { id: bigint }) {
  return (
    <span class="quiet" title={`#${id}`}>
      {' '}
      #{cutMiddle(String(id), 6, 4)}
    </span>
  )
}

/** Returns names and decimals of a token; undefined while they load, for an address that is no token, and without an
 *  address. */
export function useToken(token: string | undefined): TokenNames | undefined {
  const [names, setNames] = useState<TokenNames | undefined>()
  useEffect(() => {
    let isCurrent = true
    setNames(undefined)
    if (token !== undefined) void readToken(token).then((found) => isCurrent && setNames(found))
    return () => {
      isCurrent = false
    }
  }, [token])
  return names
}
