import { type InternalTransfer, loadInternalTransfers } from '../client/internalTransfers.js'
import { CallFailed } from '../client/rpc.js'
import { readFileRows } from '../client/tokens.js'
import { useRequest } from '../client/useRequest.js'
import { formatTime } from '../format.js'
import { linkTo } from '../routing.js'
import { Section, Table } from '../ui/Layout.js'
import { SaveRows } from '../ui/SaveRows.js'
import { Empty, Loaded } from '../ui/States.js'
import { BlockLink, Ether, Time, TransactionLink } from '../ui/Value.js'
import { Pages, Party } from './TokenTransfers.js'

const TYPES = { call: 'Call', create: 'Creation', suicide: 'Self-destruct' }

/** The ether that contracts sent to an account, or that it sent as a contract, newest first. `cursor` is that of the
 *  page before; empty for the first page. */
export function InternalTransfers({ account, cursor }: { account: string; cursor: string }) {
  const request = useRequest(() => loadInternalTransfers(account, { cursor }), [account, cursor])
  const { data } = request
  const next = data === undefined || 'missing' in data ? null : data.cursor
  return (
    <Section title="Internal transfers" note={cursor === '' ? 'newest first' : 'older ones'}>
      <Loaded request={request} what="the transfers">
        {(page) => ('missing' in page ? <NoIndex message={page.missing} /> : <Shown account={account} page={page} />)}
      </Loaded>
      <Pages
        cursor={cursor}
        next={next}
        linkToPage={(to) => linkTo('address', account, { tab: 'internal', ...(to === '' ? {} : { cursor: to }) })}
      />
    </Section>
  )
}

function NoIndex({ message }: { message: string }) {
  return (
    <Empty title="This server has no index of internal transfers">
      {message[0].toUpperCase() + message.slice(1)}. <code>cairn reindex --traces</code> executes the stored blocks once
      more; <code>--traces on</code> of <code>cairn import</code> and <code>cairn serve</code> keeps the index from the
      first block on.
    </Empty>
  )
}

function Shown(props: { account: string; page: { transfers: readonly InternalTransfer[]; cursor: string | null } }) {
  const { account, page } = props
  if (page.transfers.length === 0) {
    return (
      <Empty title={page.cursor === null ? 'No internal transfer' : 'No transfer on this page'}>
        {page.cursor === null
          ? 'No call of a contract moved ether from or to this address, as far as the search went.'
          : 'The search is not at its end: older blocks may have some.'}
      </Empty>
    )
  }
  return (
    <>
      <SaveRows
        name={`internal-transfers-${account}`}
        noun="transfer"
        part="the newest"
        read={(signal, onProgress) =>
          readFileRows(
            (options) => loadForFile(account, options),
            ({ transfers }) => transfers.map(rowOf),
            { signal, onProgress },
          )
        }
      />
      <Table
        caption="Internal transfers"
        columns={[
          'Transaction',
          { name: 'Block', isNumber: true, isWide: true },
          { name: 'Age', isNumber: true, isWide: true },
          { name: 'By', isWide: true },
          'From → to',
          { name: 'Value, ETH', isNumber: true },
        ]}
        rows={page.transfers.map((transfer) => rowShown(transfer, account.toLowerCase()))}
      />
    </>
  )
}

function rowShown(transfer: InternalTransfer, own: string) {
  const { transactionHash, blockNumber, blockTimestamp, type, from, to, value } = transfer
  return [
    <TransactionLink key="hash" hash={transactionHash} copies={false} isBrief />,
    <BlockLink key="block" number={blockNumber} />,
    <Time key="time" seconds={BigInt(blockTimestamp)} onlyAge />,
    TYPES[type],
    <span key="parties" class="parties">
      <Party address={from} own={own} />
      <span>
        <span class="quiet">→</span> <Party address={to} own={own} />
      </span>
    </span>,
    <Ether key="value" wei={value} isBrief />,
  ]
}

/** @throws CallFailed */
async function loadForFile(account: string, options: { cursor?: string; limit?: number }) {
  const page = await loadInternalTransfers(account, options)
  if ('missing' in page) throw new CallFailed('call', page.missing)
  return page
}

/** A row of the file: values are wei in decimal, times are UTC. */
function rowOf(transfer: InternalTransfer) {
  const { blockNumber, blockTimestamp, transactionHash, transferIndex, traceAddress, type, from, to, value } = transfer
  return {
    block_number: Number(blockNumber),
    time: formatTime(BigInt(blockTimestamp)),
    transaction_hash: transactionHash,
    transfer_index: Number(transferIndex),
    trace_address: traceAddress.join('_'),
    type,
    from,
    to,
    value: String(BigInt(value)),
  }
}
