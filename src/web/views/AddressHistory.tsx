import { useEffect, useRef, useState } from 'preact/hooks'
import { hexToNumber } from 'viem'
import { CallFailed, call } from '../client/rpc.js'
import type { Receipt, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatRows } from '../exportRows.js'
import { formatCount, formatPlural, formatTime } from '../format.js'
import { linkTo } from '../routing.js'
import { download } from '../ui/download.js'
import { Section, Table } from '../ui/Layout.js'
import { MethodName } from '../ui/Name.js'
import { Empty, Failure, Loaded } from '../ui/States.js'
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
            <SaveTransactions address={address} />
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

/** Loads the transactions and saves them as CSV. */
function SaveTransactions({ address }: { address: string }) {
  const [loaded, setLoaded] = useState<number | undefined>()
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState<CallFailed | undefined>()
  const current = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => current.current?.abort(), [])
  const save = async () => {
    const own = new AbortController()
    current.current = own
    setProblem(undefined)
    setLoaded(0)
    try {
      const { rows, isAll } = await readRows(address, own.signal, setLoaded)
      if (own.signal.aborted) return setLoaded(undefined)
      download(`transactions-${address}`, formatRows(rows, 'csv'), 'csv')
      setNote(`${formatPlural(rows.length, 'transaction')} saved${isAll ? '' : ', the newest; cairn sql has all'}`)
    } catch (error) {
      setProblem(error instanceof CallFailed ? error : new CallFailed('call', String(error)))
    }
    setLoaded(undefined)
  }
  return (
    <div class="buttons">
      <span class="export">
        <span role="status">{loaded === undefined ? note : `loading, ${formatCount(loaded)} so far …`}</span>
        <button type="button" disabled={loaded !== undefined} onClick={() => void save()}>
          CSV
        </button>
        {loaded !== undefined && (
          <button type="button" onClick={() => current.current?.abort()}>
            Stop
          </button>
        )}
      </span>
      {problem !== undefined && <Failure error={problem} />}
    </div>
  )
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
