import { loadHolders, loadSupply, readFileRows } from '../client/tokens.js'
import type { HolderEntry, HolderPage, Token, TokenKind } from '../client/tokenTypes.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount, formatPlural } from '../format.js'
import { linkTo } from '../routing.js'
import { formatSupplyShare, holderRow, likelyBalance } from '../tokenRows.js'
import { Section, Table } from '../ui/Layout.js'
import { SaveRows } from '../ui/SaveRows.js'
import { Empty, Loaded } from '../ui/States.js'
import { TokenId } from '../ui/TokenAmount.js'
import { AddressLink } from '../ui/Value.js'
import { BalanceOfToken } from './TokenBalance.js'
import { Pages } from './TokenTransfers.js'

/** Holders with the supply after the same block; null if it is unknown. */
interface HoldersOfSupply extends HolderPage {
  readonly supply: bigint | null
}

async function loadPage(token: Token, cursor: string): Promise<HoldersOfSupply> {
  const page = await loadHolders(token.address, { cursor })
  return { ...page, supply: await loadSupply(token.address, page.blockNumber) }
}

/** The holders of a token. `cursor` is that of the page before; empty for the first page. */
export function TokenHolders({ token, cursor }: { token: Token; cursor: string }) {
  const request = useRequest(() => loadPage(token, cursor), [token.address, cursor])
  const { data } = request
  const note = data === undefined ? undefined : describeCount(token.kind, data)
  return (
    <Section title="Holders" note={note}>
      <Loaded request={request} what="the holders">
        {(page) => <Holders token={token} page={page} />}
      </Loaded>
      <Pages
        cursor={cursor}
        next={data?.cursor ?? null}
        linkToPage={(next) => linkTo('token', token.address, { tab: 'holders', cursor: next })}
        words={{ first: 'First', next: 'More' }}
      />
    </Section>
  )
}

/** Entries of a page: accounts of ERC-20, ids of ERC-721, balances of an id of ERC-1155. */
const ENTRIES: Record<TokenKind, string> = { erc20: 'holder', erc721: 'id', erc1155: 'balance' }

function describeCount(kind: TokenKind, { count, blockNumber }: HolderPage): string {
  return `${formatPlural(Number(count), ENTRIES[kind])}, after block ${formatCount(blockNumber)}`
}

function Holders({ token, page }: { token: Token; page: HoldersOfSupply }) {
  const { holders, supply, isComplete } = page
  if (holders.length === 0)
    return <Empty title="No holder">No account has some of this token by its transfer logs.</Empty>
  const hasIds = holders.some(({ id }) => id !== null)
  const hasBalances = holders.some(({ kind }) => kind !== 'erc721')
  const hasShares = supply !== null && supply > 0n && holders.some(({ kind }) => kind === 'erc20')
  return (
    <>
      {!isComplete && (
        <p class="quiet">
          Logs take more from an account than they gave it: the token also changes balances without a transfer log, so
          holders may be missing.
        </p>
      )}
      <SaveRows
        name={`holders-${token.address}`}
        noun="row"
        part="the first"
        read={(signal, onProgress) =>
          readFileRows(
            (options) => loadHolders(token.address, options),
            (each) => each.holders.map(holderRow),
            { signal, onProgress },
          )
        }
      />
      <Table
        caption="Holders"
        columns={[
          'Holder',
          ...(hasIds ? ['Id'] : []),
          ...(hasBalances ? [{ name: 'Balance', isNumber: true }] : []),
          ...(hasShares ? [{ name: 'Share', isNumber: true }] : []),
        ]}
        rows={holders.map((entry) => [
          <AddressLink key="holder" address={entry.holder} copies={false} isBrief />,
          ...(hasIds ? [<HeldId key="id" entry={entry} />] : []),
          ...(hasBalances ? [<BalanceOfToken key="balance" entry={entry} decimals={token.decimals} />] : []),
          ...(hasShares ? [<Share key="share" entry={entry} supply={supply} />] : []),
        ])}
      />
    </>
  )
}

/** The id, and whether the contract says that another account owns it. */
function HeldId({ entry: { id, kind, matches } }: { entry: HolderEntry }) {
  return (
    <span class="stack">
      <span>{id !== null && <TokenId id={BigInt(id)} />}</span>
      {kind === 'erc721' && matches === false && <span class="quiet">the contract has another owner</span>}
    </span>
  )
}

function Share({ entry, supply }: { entry: HolderEntry; supply: bigint }) {
  const balance = likelyBalance(entry)
  if (balance === undefined || entry.kind !== 'erc20') return <span class="quiet">–</span>
  return <>{formatSupplyShare(balance, supply)}</>
}
