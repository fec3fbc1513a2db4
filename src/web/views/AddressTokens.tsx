import { loadBalances, readFileRows } from '../client/tokens.js'
import type { BalanceEntry, BalancePage } from '../client/tokenTypes.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount, formatPlural } from '../format.js'
import { linkTo } from '../routing.js'
import { balanceRow, formatKind, isShownBalance } from '../tokenRows.js'
import { ETHER_LOGS } from '../tokenTransfers.js'
import { Section, Table } from '../ui/Layout.js'
import { Name } from '../ui/Name.js'
import { SaveRows } from '../ui/SaveRows.js'
import { Empty, Loaded } from '../ui/States.js'
import { TokenId, TokenLink } from '../ui/TokenAmount.js'
import { BalanceOfToken } from './TokenBalance.js'
import { Pages } from './TokenTransfers.js'

/** The tokens of an account at the newest block. `cursor` is that of the page before; empty for the first page. */
export function AddressTokens({ account, cursor }: { account: string; cursor: string }) {
  const request = useRequest(() => loadBalances(account, { cursor }), [account, cursor])
  const { data } = request
  const note = data === undefined ? undefined : `after block ${formatCount(data.blockNumber)}`
  return (
    <Section title="Tokens" note={note}>
      <Loaded request={request} what="the tokens">
        {(page) => <Balances account={account} page={page} cursor={cursor} />}
      </Loaded>
      <Pages
        cursor={cursor}
        next={data?.cursor ?? null}
        linkToPage={(next) => linkTo('address', account, { tab: 'tokens', cursor: next })}
        words={{ first: 'First', next: 'More' }}
      />
    </Section>
  )
}

function Balances({ account, page, cursor }: { account: string; page: BalancePage; cursor: string }) {
  // Ether is above, as the balance of the account.
  const tokens = page.balances.filter(({ token }) => token !== ETHER_LOGS)
  const shown = tokens.filter(isShownBalance)
  const gone = tokens.length - shown.length
  const isEmpty = shown.length === 0
  return (
    <>
      {tokens.length > 0 && (
        <SaveRows
          name={`tokens-${account}`}
          noun="balance"
          part="the first"
          read={(signal, onProgress) =>
            readFileRows(
              (options) => loadBalances(account, options),
              ({ balances }) => balances.map(balanceRow),
              { signal, onProgress },
            )
          }
        />
      )}
      {!isEmpty && <BalanceTable balances={shown} />}
      {isEmpty && (
        <Empty title={page.cursor === null && cursor === '' ? 'This address has no tokens' : 'No token on this page'}>
          Tokens are found by the logs of their transfers.
        </Empty>
      )}
      {gone > 0 && <p class="quiet">{formatPlural(gone, 'balance')} of zero left out; the file has them.</p>}
    </>
  )
}

function BalanceTable({ balances }: { balances: readonly BalanceEntry[] }) {
  return (
    <Table
      caption="Tokens of the address"
      columns={[
        'Token',
        { name: 'Symbol', isWide: true },
        { name: 'Kind', isWide: true },
        { name: 'Balance', isNumber: true },
      ]}
      rows={balances.map((entry) => [
        <span key="token">
          <TokenLink token={entry.token} names={entry} />
          {entry.id !== null && <TokenId id={BigInt(entry.id)} />}
        </span>,
        <span key="symbol" class="token">
          {entry.symbol ? <Name text={entry.symbol} /> : <span class="quiet">–</span>}
        </span>,
        formatKind(entry.kind),
        <BalanceOfToken key="balance" entry={entry} decimals={entry.decimals} />,
      ])}
    />
  )
}
