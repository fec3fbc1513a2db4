import { formatUnits } from 'viem'
import { failurePath } from '../callTree.js'
import { call } from '../client/rpc.js'
import type { CallFrame, DecodedLog, StateDiff } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatBriefly, formatDecimal, formatPlural } from '../format.js'
import { linkTo } from '../routing.js'
import { tokenChanges, tokenTransfers } from '../tokenTransfers.js'
import { Section, Table } from '../ui/Layout.js'
import { TokenAmount } from '../ui/TokenAmount.js'
import { AddressLink } from '../ui/Value.js'
import { CallText, loadCalls } from './CallTree.js'

/** Transfers and changes that are shown; the other tabs have all of them. */
const SHOWN_ROWS = 25

/** The token transfers of a transaction, and what accounts gained and lost by it. */
export function TransactionSummary({ hash, logs }: { hash: string; logs: readonly DecodedLog[] }) {
  const transfers = tokenTransfers(logs)
  return (
    <>
      {transfers.length > 0 && (
        <Section title="Token transfers" note={formatPlural(transfers.length, 'transfer')}>
          <Table
            caption="Token transfers"
            columns={['From', 'To', 'Amount']}
            rows={transfers
              .slice(0, SHOWN_ROWS)
              .map((transfer) => [
                <AddressLink key="from" address={transfer.from} copies={false} isBrief />,
                <AddressLink key="to" address={transfer.to} copies={false} isBrief />,
                <TokenAmount key="amount" {...transfer} />,
              ])}
          />
          {transfers.length > SHOWN_ROWS && <More what="transfers" href={linkTo('tx', hash, { tab: 'logs' })} />}
        </Section>
      )}
      <BalanceChanges hash={hash} logs={logs} />
    </>
  )
}

function More({ what, href }: { what: string; href: string }) {
  return (
    <p class="quiet">
      The first {SHOWN_ROWS} {what} are shown; <a href={href}>here are all of them</a>.
    </p>
  )
}

interface EtherChange {
  readonly address: string
  readonly wei: bigint
}

/** What accounts gained and lost in ether and tokens. Ether is left out where the state is not available. */
function BalanceChanges({ hash, logs }: { hash: string; logs: readonly DecodedLog[] }) {
  const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
  const diff = useRequest(() => call<StateDiff>('debug_traceTransaction', [hash, options]), [hash])
  const ether = diff.data === undefined ? [] : etherChanges(diff.data)
  const tokens = tokenChanges(tokenTransfers(logs))
  const addresses = [...new Set([...ether, ...tokens].map(({ address }) => address))]
  if (addresses.length === 0) return null
  const note = diff.error === undefined ? formatPlural(addresses.length, 'account') : 'tokens only, without the state'
  return (
    <Section title="Balance changes" note={note}>
      <Table
        caption="Balance changes"
        columns={['Account', { name: 'ETH', isNumber: true }, 'Tokens']}
        rows={addresses.slice(0, SHOWN_ROWS).map((address) => [
          <AddressLink key="address" address={address} copies={false} isBrief />,
          <EtherGain key="ether" wei={ether.find((each) => each.address === address)?.wei ?? 0n} />,
          <span key="tokens" class="stack">
            {tokens
              .filter((each) => each.address === address)
              .map(({ token, id, change }) => (
                <TokenAmount key={`${token}${id}`} token={token} id={id} amount={change} isChange />
              ))}
          </span>,
        ])}
      />
      {addresses.length > SHOWN_ROWS && <More what="accounts" href={linkTo('tx', hash, { tab: 'state' })} />}
    </Section>
  )
}

function EtherGain({ wei }: { wei: bigint }) {
  if (wei === 0n) return <span class="quiet">–</span>
  const sign = wei > 0n ? '+' : '−'
  const exact = formatUnits(wei < 0n ? -wei : wei, 18)
  return (
    <span class={wei > 0n ? 'number gain' : 'number loss'} title={`${sign}${formatDecimal(exact)} ETH`}>
      {sign}
      {formatBriefly(exact)}
    </span>
  )
}

function etherChanges({ pre, post }: StateDiff): EtherChange[] {
  const addresses = [...new Set([...Object.keys(pre), ...Object.keys(post)])]
  return addresses.flatMap((address) => {
    const before = BigInt(pre[address]?.balance ?? 0)
    // `post` omits a balance that did not change, and accounts that were removed.
    const after = post[address] === undefined ? 0n : BigInt(post[address].balance ?? before)
    return after === before ? [] : [{ address, wei: after - before }]
  })
}

/** Where a transaction failed: the calls from its own one to the one that reverted. */
export function FailedFrame({ hash }: { hash: string }) {
  const request = useRequest(() => loadCalls(hash), [hash])
  const path = request.data === undefined ? [] : failurePath(request.data)
  if (path.length === 0) return <span class="quiet">{request.error === undefined ? 'looking …' : 'not known'}</span>
  return (
    <ol class="path">
      {path.map((frame, i) => (
        <li key={i}>
          <FrameName frame={frame} />
        </li>
      ))}
    </ol>
  )
}

function FrameName({ frame }: { frame: CallFrame }) {
  return (
    <>
      {frame.to !== undefined && <AddressLink address={frame.to} copies={false} isBrief />} <CallText frame={frame} />
    </>
  )
}
