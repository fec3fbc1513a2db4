import { hexToNumber } from 'viem'
import { call } from '../client/rpc.js'
import type { Receipt, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatTime } from '../format.js'
import { linkTo } from '../routing.js'
import { Section, Table } from '../ui/Layout.js'
import { MethodName } from '../ui/Name.js'
import { SaveRows } from '../ui/SaveRows.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, BlockLink, Ether, Time, TransactionLink } from '../ui/Value.js'
import { Outcome, Recipient } from './BlockView.js'

/** The method returns at most 25. */
const PAGE_SIZE = 25

/** Transactions of a file at most: 200 requests. */
const FILE_TRANSACTIONS = 5_000

type TimedReceipt = Receipt & { timestamp: number }

/** A page of `ots_searchTransactionsBefore`, newest first. `firstPage` marks the newest, `lastPage` the oldest. */
interface Page {
  txs: Transaction[]
  receipts: TimedReceipt[]
  firstPage: boolean
  lastPage: boolean
}

function loadPage(address: string, before: number): Promise<Page> {
  return call<Page>('ots_searchTransactionsBefore', [address, before, PAGE_SIZE])
}

/** The transactions of an address, newest first: those in blocks before `before`; 0 for the newest. */
export function AddressHistory({ address, before }: { address: string; before: number }) {
  const request = useRequest(() => loadPage(address, before), [address, before])
  return (
    <Loaded request={request} what="the transactions">
      {(page) =>
        page.txs.length === 0 ? (
          <Empty title="No transaction names this address">
            Internal calls and beneficiaries count too, where the index of addresses holds them.
          </Empty>
        ) : (
          <Section title="Transactions" note={before === 0 ? 'newest first' : `before block ${before}`}>
            <SaveRows
              name={`transactions-${address}`}
              noun="transaction"
              part="the newest"
              read={(signal, onProgress) => readRows(address, signal, onProgress)}
            />
            <Transactions page={page} address={address} />
            <nav class="pages" aria-label="Pages of transactions">
              {!page.firstPage && <a href={linkTo('address', address)}>← Newest</a>}
              {!page.lastPage && (
                <a href={linkTo('address', address, { before: String(oldestBlock(page)) })}>Older →</a>
              )}
            </nav>
          </Section>
        )
      }
    </Loaded>
  )
}

function oldestBlock({ txs }: Page): number {
  return hexToNumber(txs.at(-1)!.blockNumber!)
}

/** Returns at most `FILE_TRANSACTIONS` rows, newest first, and whether these are all. Returns early when the signal is
 *  aborted. @throws CallFailed */
async function readRows(address: string, signal: AbortSignal, onProgress: (rows: number) => void) {
  const rows: ReturnType<typeof rowOf>[] = []
  let before = 0
  for (;;) {
    const page = await loadPage(address, before)
    rows.push(...page.txs.map((transaction, i) => rowOf(transaction, page.receipts[i])))
    onProgress(rows.length)
    if (page.lastPage || page.txs.length === 0) return { rows, isAll: true }
    if (rows.length >= FILE_TRANSACTIONS || signal.aborted) return { rows, isAll: false }
    before = oldestBlock(page)
  }
}

/** A row of the file: amounts are wei in decimal, times are UTC. */
function rowOf(transaction: Transaction, { timestamp, status, gasUsed, contractAddress, ...receipt }: TimedReceipt) {
  const { hash, blockNumber, from, to, value, input } = transaction
  return {
    hash,
    block_number: hexToNumber(blockNumber!),
    time: formatTime(BigInt(timestamp)),
    from,
    to: to ?? '',
    created: contractAddress ?? '',
    selector: input.length >= 10 ? input.slice(0, 10) : '',
    value: String(BigInt(value)),
    gas_used: hexToNumber(gasUsed),
    fee: String(BigInt(gasUsed) * BigInt(receipt.effectiveGasPrice)),
    status: status === undefined ? '' : hexToNumber(status),
  }
}

function Transactions({ page: { txs, receipts }, address }: { page: Page; address: string }) {
  const own = address.toLowerCase()
  return (
    <Table
      caption="Transactions of the address"
      columns={[
        'Transaction',
        'Method',
        { name: 'Block', isNumber: true, isWide: true },
        { name: 'Age', isNumber: true, isWide: true },
        { name: 'From', isWide: true },
        { name: 'To', isWide: true },
        { name: 'Value, ETH', isNumber: true },
        { name: 'Fee, ETH', isNumber: true, isWide: true },
        'Result',
      ]}
      rows={txs.map((transaction, i) => [
        <TransactionLink key="hash" hash={transaction.hash} copies={false} isBrief />,
        <MethodName key="method" input={transaction.input} to={transaction.to} />,
        <BlockLink key="block" number={transaction.blockNumber!} />,
        <Time key="time" seconds={BigInt(receipts[i].timestamp)} onlyAge />,
        transaction.from === own ? (
          <span class="quiet">this address</span>
        ) : (
          <AddressLink key="from" address={transaction.from} copies={false} isBrief />
        ),
        transaction.to === own ? (
          <span class="quiet">this address</span>
        ) : (
          <Recipient key="to" to={transaction.to} created={receipts[i].contractAddress} />
        ),
        <Ether key="value" wei={transaction.value} isBrief />,
        <Ether key="fee" isBrief wei={BigInt(receipts[i].gasUsed) * BigInt(receipts[i].effectiveGasPrice)} />,
        <Outcome key="result" receipt={receipts[i]} />,
      ])}
    />
  )
}
