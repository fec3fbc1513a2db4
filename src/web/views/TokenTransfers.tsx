import type { ComponentChildren } from 'preact'
import { loadTransfers, readFileRows } from '../client/tokens.js'
import type { TokenNames, TransferEntry } from '../client/tokenTypes.js'
import { useRequest } from '../client/useRequest.js'
import { linkTo } from '../routing.js'
import { transferRow } from '../tokenRows.js'
import { Section, Table } from '../ui/Layout.js'
import { SaveRows } from '../ui/SaveRows.js'
import { Empty, Loaded } from '../ui/States.js'
import { TokenAmount, TokenId, TokenNumber } from '../ui/TokenAmount.js'
import { AddressLink, BlockLink, Time, TransactionLink } from '../ui/Value.js'

/** The token transfers of an account, newest first. `cursor` is that of the page before; empty for the first page. */
export function AccountTransfers({ account, cursor }: { account: string; cursor: string }) {
  const own = account.toLowerCase()
  return (
    <TransferPages
      of={{ account }}
      cursor={cursor}
      own={own}
      linkToPage={(next) => linkTo('address', account, { tab: 'transfers', cursor: next })}
      amountOf={({ token, value, id }) => (
        <TokenAmount token={token} amount={BigInt(value)} id={id === null ? undefined : BigInt(id)} />
      )}
    />
  )
}

/** The transfers of a token, like `AccountTransfers`. */
export function TransfersOfToken(props: { token: string; names: TokenNames; cursor: string }) {
  const { token, names, cursor } = props
  return (
    <TransferPages
      of={{ token }}
      cursor={cursor}
      linkToPage={(next) => linkTo('token', token, { cursor: next })}
      amountOf={({ kind, value, id }) => (
        <span class="token-amount">
          {kind !== 'erc721' && <TokenNumber amount={BigInt(value)} decimals={kind === 'erc20' ? names.decimals : 0} />}
          {id !== null && <TokenId id={BigInt(id)} />}
        </span>
      )}
    />
  )
}

interface TransferPagesProps {
  of: { token: string } | { account: string }
  cursor: string
  /** The address of the view, in lower case: it is shown as “this address”. */
  own?: string
  linkToPage(cursor: string): string
  amountOf(entry: TransferEntry): ComponentChildren
}

function TransferPages({ of, cursor, own, linkToPage, amountOf }: TransferPagesProps) {
  const request = useRequest(() => loadTransfers(of, { cursor }), [of, cursor])
  const [name] = Object.values(of)
  return (
    <Section title="Token transfers" note={cursor === '' ? 'newest first' : 'older ones'}>
      <Loaded request={request} what="the transfers">
        {({ transfers, cursor: next }) => (
          <>
            {transfers.length > 0 && (
              <SaveRows
                name={`token-transfers-${name}`}
                noun="transfer"
                part="the newest"
                read={(signal, onProgress) =>
                  readFileRows(
                    (options) => loadTransfers(of, options),
                    (page) => page.transfers.map(transferRow),
                    { signal, onProgress },
                  )
                }
              />
            )}
            {transfers.length > 0 && <TransferTable transfers={transfers} own={own} amountOf={amountOf} />}
            {transfers.length === 0 && next === null && cursor === '' && (
              <Empty title="No token transfer">
                Transfers are those of the logs of ERC-20, ERC-721 and ERC-1155 tokens.
              </Empty>
            )}
            {transfers.length === 0 && (next !== null || cursor !== '') && (
              <Empty title="No transfer on this page">
                {next === null
                  ? 'There are no older ones.'
                  : 'The search is not at its end: older blocks may have some.'}
              </Empty>
            )}
          </>
        )}
      </Loaded>
      <Pages cursor={cursor} next={request.data?.cursor ?? null} linkToPage={linkToPage} />
    </Section>
  )
}

function TransferTable(props: Pick<TransferPagesProps, 'own' | 'amountOf'> & { transfers: readonly TransferEntry[] }) {
  const { transfers, own, amountOf } = props
  return (
    <Table
      caption="Token transfers"
      columns={[
        'Transaction',
        { name: 'Block', isNumber: true, isWide: true },
        { name: 'Age', isNumber: true, isWide: true },
        'From → to',
        'Amount',
      ]}
      rows={transfers.map((entry) => [
        <TransactionLink key="hash" hash={entry.transactionHash} copies={false} isBrief />,
        <BlockLink key="block" number={entry.blockNumber} />,
        <Time key="time" seconds={BigInt(entry.blockTimestamp)} onlyAge />,
        <span key="parties" class="parties">
          <Party address={entry.from} own={own} />
          <span>
            <span class="quiet">→</span> <Party address={entry.to} own={own} />
          </span>
        </span>,
        amountOf(entry),
      ])}
    />
  )
}

/** An address, or “this address” for that of the view. */
export function Party({ address, own }: { address: string; own: string | undefined }) {
  if (address === own) return <span class="quiet">this address</span>
  return <AddressLink address={address} copies={false} isBrief />
}

/** Links to the first page and to the one after this one, named by `words`. */
export function Pages(props: {
  cursor: string
  next: string | null
  linkToPage(cursor: string): string
  words?: { first: string; next: string }
}) {
  const { cursor, next, linkToPage, words = { first: 'Newest', next: 'Older' } } = props
  if (cursor === '' && next === null) return null
  return (
    <nav class="pages" aria-label="Pages">
      {cursor !== '' && <a href={linkToPage('')}>← {words.first}</a>}
      {next !== null && <a href={linkToPage(next)}>{words.next} →</a>}
    </nav>
  )
}
