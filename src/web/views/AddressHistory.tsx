import { hexToNumber } from 'viem'
import { call } from '../client/rpc.js'
import type { Receipt, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { linkTo } from '../routing.js'
import { Section, Table } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, BlockLink, Ether, Time, TransactionLink } from '../ui/Value.js'
import { Outcome, Recipient } from './BlockView.js'

const PAGE_SIZE = 25

/** A page of `ots_searchTransactionsBefore`, newest first. `firstPage` marks the newest, `lastPage` the oldest. */
interface Page {
  txs: Transaction[]
  receipts: (Receipt & { timestamp: number })[]
  firstPage: boolean
  lastPage: boolean
}

/** The transactions of an address, newest first: those in blocks before `before`; 0 for the newest. */
export function AddressHistory({ address, before }: { address: string; before: number }) {
  const request = useRequest(
    () => call<Page>('ots_searchTransactionsBefore', [address, before, PAGE_SIZE]),
    [address, before],
  )
  return (
    <Loaded request={request} what="the transactions">
      {(page) =>
        page.txs.length === 0 ? (
          <Empty title="No transaction names this address">
            Internal calls and beneficiaries count too, where the index of addresses holds them.
          </Empty>
        ) : (
          <Section title="Transactions" note={before === 0 ? 'newest first' : `before block ${before}`}>
            <Transactions page={page} address={address} />
            <nav class="pages" aria-label="Pages of transactions">
              {!page.firstPage && <a href={linkTo('address', address)}>← Newest</a>}
              {!page.lastPage && (
                <a href={linkTo('address', address, { before: String(hexToNumber(page.txs.at(-1)!.blockNumber!)) })}>
                  Older →
                </a>
              )}
            </nav>
          </Section>
        )
      }
    </Loaded>
  )
}

function Transactions({ page: { txs, receipts }, address }: { page: Page; address: string }) {
  const own = address.toLowerCase()
  return (
    <Table
      caption="Transactions of the address"
      columns={[
        'Transaction',
        { name: 'Block', isNumber: true },
        { name: 'Age', isNumber: true },
        'From',
        'To',
        { name: 'Value', isNumber: true },
        'Result',
      ]}
      rows={txs.map((transaction, i) => [
        <TransactionLink key="hash" hash={transaction.hash} />,
        <BlockLink key="block" number={transaction.blockNumber!} />,
        <Time key="time" seconds={BigInt(receipts[i].timestamp)} onlyAge />,
        transaction.from === own ? (
          <span class="quiet">this address</span>
        ) : (
          <AddressLink key="from" address={transaction.from} copies={false} />
        ),
        transaction.to === own ? (
          <span class="quiet">this address</span>
        ) : (
          <Recipient key="to" to={transaction.to} created={receipts[i].contractAddress} />
        ),
        <Ether key="value" wei={transaction.value} />,
        <Outcome key="result" receipt={receipts[i]} />,
      ])}
    />
  )
}
