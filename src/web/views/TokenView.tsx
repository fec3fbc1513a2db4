import { formatUnits } from 'viem'
import { loadToken } from '../client/tokens.js'
import type { Token } from '../client/tokenTypes.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount, formatDecimal } from '../format.js'
import { linkTo, type Route } from '../routing.js'
import { formatKind } from '../tokenRows.js'
import { Facts, Tabs, ViewTitle } from '../ui/Layout.js'
import { Name } from '../ui/Name.js'
import { Loaded } from '../ui/States.js'
import { AddressLink, BlockLink, Code } from '../ui/Value.js'
import { AddressView } from './AddressView.js'
import { TokenHolders } from './TokenHolders.js'
import { TransfersOfToken } from './TokenTransfers.js'

/** A token: what its contract says about itself, its transfers and its holders. The address view if it is no token. */
export function TokenView({ route }: { route: Route }) {
  const address = route.item
  const request = useRequest(() => loadToken(address), [address])
  const token = request.data
  if (token === null) {
    return (
      <AddressView route={route} note="This address is no token: it logged no transfer, and answers no call of one." />
    )
  }
  const title = token?.name || token?.symbol
  return (
    <>
      <ViewTitle item={address} actions={<a href={linkTo('logs', '', { address })}>Logs</a>}>
        Token
        {title && (
          <>
            {' '}
            <Name text={title} />
          </>
        )}
      </ViewTitle>
      <p class="subtitle">
        <Code text={address} whole />
      </p>
      <Loaded request={request} what="the token">
        {(found) => found !== null && <LoadedToken token={found} route={route} />}
      </Loaded>
    </>
  )
}

function LoadedToken({ token, route }: { token: Token; route: Route }) {
  const { address } = token
  const tab = route.query.get('tab') ?? 'transfers'
  const cursor = route.query.get('cursor') ?? ''
  return (
    <>
      <TokenFacts token={token} />
      <Tabs
        label="Parts of the token"
        current={tab}
        tabs={[
          ['transfers', 'Transfers', linkTo('token', address)],
          ['holders', 'Holders', linkTo('token', address, { tab: 'holders' })],
        ]}
      />
      {tab === 'transfers' && <TransfersOfToken token={address} names={token} cursor={cursor} />}
      {tab === 'holders' && <TokenHolders token={token} cursor={cursor} />}
    </>
  )
}

function TokenFacts({ token }: { token: Token }) {
  const { address, kind, name, symbol, decimals, totalSupply, firstBlock } = token
  return (
    <Facts
      facts={[
        ['Name', <Text key="v" text={name} />],
        ['Symbol', <Text key="v" text={symbol} />],
        ['Kind', formatKind(kind)],
        kind === 'erc20' && ['Decimals', decimals === null ? <Text key="v" text={null} /> : formatCount(decimals)],
        totalSupply !== null && ['Supply', <Supply key="v" token={token} amount={BigInt(totalSupply)} />],
        firstBlock !== null && [
          'First transfer',
          <span key="v">
            block <BlockLink number={firstBlock} />
          </span>,
        ],
        ['Contract', <AddressLink key="v" address={address} whole />],
      ]}
    />
  )
}

/** The exact supply in the unit of the token; in the smallest unit without decimals. */
function Supply({ token: { kind, symbol, decimals }, amount }: { token: Token; amount: bigint }) {
  const unit = kind === 'erc20' ? decimals : 0
  return (
    <>
      <span class="number break">{formatDecimal(formatUnits(amount, unit ?? 0))}</span>{' '}
      <span class="quiet">{unit === null ? 'in the smallest unit' : symbol && <Name text={symbol} />}</span>
    </>
  )
}

/** A text of the contract. */
function Text({ text }: { text: string | null }) {
  return text ? <Name text={text} /> : <span class="quiet">unknown</span>
}
