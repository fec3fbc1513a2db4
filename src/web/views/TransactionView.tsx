import { CallFailed, call, callIfServed } from '../client/rpc.js'
import type { Decoded, DecodedLog, Failure, Log, Receipt, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, formatCount, formatGwei, formatShare } from '../format.js'
import { linkTo, type Route } from '../routing.js'
import { DecodedCall, LogCard } from '../ui/Decoded.js'
import { Facts, Section, Tabs, ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, BlockLink, Code, CopyButton, Ether } from '../ui/Value.js'
import { Outcome, Recipient } from './BlockView.js'
import { CallTree, StateDifference } from './TransactionTraces.js'

interface Shown {
  transaction: Transaction
  /** Undefined while it is pending. */
  receipt: Receipt | undefined
}

/** Result of `cairn_getDecodedTransaction`. */
interface DecodedTransaction {
  function: Decoded | null
  failure: Failure | null
  logs: DecodedLog[]
}

/** A transaction: what it did, its logs, internal calls and state changes. */
export function TransactionView({ route }: { route: Route }) {
  const hash = route.item
  const request = useRequest(() => loadTransaction(hash), [hash])
  const shown = request.data ?? undefined
  const tab = route.query.get('tab') ?? 'overview'
  const link = (name: string) => linkTo('tx', hash, name === 'overview' ? {} : { tab: name })
  const logs = shown?.receipt?.logs.length
  return (
    <>
      <ViewTitle item={hash}>Transaction</ViewTitle>
      <Loaded request={request} what="the transaction">
        {(data) =>
          data === null ? (
            <Empty title="This transaction is not in the database">
              Check the hash, or see on the <a href={linkTo('')}>overview</a> which blocks are available.
            </Empty>
          ) : (
            <>
              <Tabs
                label="Parts of the transaction"
                current={tab}
                tabs={[
                  ['overview', 'Overview', link('overview')],
                  ['logs', `Logs${logs === undefined ? '' : ` (${logs})`}`, link('logs')],
                  ['calls', 'Internal calls', link('calls')],
                  ['state', 'State changes', link('state')],
                ]}
              />
              <TransactionPart tab={tab} shown={data} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

/** Returns null if the transaction is unknown. */
async function loadTransaction(hash: string): Promise<Shown | null> {
  const [transaction, receipt] = await Promise.all([
    call<Transaction | null>('eth_getTransactionByHash', [hash]),
    call<Receipt | null>('eth_getTransactionReceipt', [hash]),
  ])
  return transaction === null ? null : { transaction, receipt: receipt ?? undefined }
}

function TransactionPart({ tab, shown }: { tab: string; shown: Shown }) {
  const { hash } = shown.transaction
  const decoded = useRequest(() => loadDecoded(hash), [hash])
  if (tab === 'calls') return <CallTree hash={hash} />
  if (tab === 'state') return <StateDifference hash={hash} />
  if (tab === 'logs') return <Logs logs={decoded.data?.logs ?? shown.receipt?.logs ?? []} />
  const { function: input = null, failure } = decoded.data ?? {}
  return <TransactionFacts {...shown} decoded={input} failure={failure ?? undefined} />
}

/** Returns null if nothing can be decoded. */
async function loadDecoded(hash: string): Promise<DecodedTransaction | null> {
  try {
    return (await callIfServed<DecodedTransaction | null>('cairn_getDecodedTransaction', [hash])) ?? null
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'call') return null
    throw error
  }
}

function TransactionFacts({
  transaction,
  receipt,
  decoded,
  failure,
}: Shown & { decoded: Decoded | null; failure: Failure | undefined }) {
  const { blockNumber } = transaction
  const fee = receipt && BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
  const type = Number(transaction.type)
  return (
    <>
      <Facts
        facts={[
          ['Hash', <Code key="v" text={transaction.hash} whole />],
          [
            'Result',
            receipt === undefined ? <span class="badge">pending</span> : <Outcome key="v" receipt={receipt} />,
          ],
          failure?.error != null && ['Error', <Reason key="v" failure={failure} />],
          blockNumber !== null && [
            'Block',
            <span key="v">
              <BlockLink number={blockNumber} />{' '}
              <span class="quiet">at index {formatCount(transaction.transactionIndex ?? '0x0')}</span>
            </span>,
          ],
          ['From', <AddressLink key="v" address={transaction.from} whole />],
          [
            'To',
            transaction.to === null ? (
              <Recipient key="v" to={null} created={receipt?.contractAddress ?? null} />
            ) : (
              <AddressLink key="v" address={transaction.to} whole />
            ),
          ],
          ['Value', <Ether key="v" wei={transaction.value} />],
          fee !== undefined && ['Fee', <Ether key="v" wei={fee} />],
          receipt !== undefined && [
            'Gas',
            <span key="v">
              {formatCount(receipt.gasUsed)} of {formatCount(transaction.gas)}{' '}
              <span class="quiet">({formatShare(BigInt(receipt.gasUsed), BigInt(transaction.gas))})</span>
            </span>,
          ],
          ['Gas price', `${formatGwei(BigInt(receipt?.effectiveGasPrice ?? transaction.gasPrice))} gwei`],
          transaction.maxFeePerGas !== undefined && [
            'Fee limits',
            `${formatGwei(BigInt(transaction.maxFeePerGas))} gwei, priority ${formatGwei(BigInt(transaction.maxPriorityFeePerGas ?? '0x0'))} gwei`,
          ],
          ['Nonce', formatCount(transaction.nonce)],
          ['Type', `${type} ${TYPES[type] ?? ''}`],
          transaction.blobVersionedHashes !== undefined && [
            'Blobs',
            formatCount(transaction.blobVersionedHashes.length),
          ],
          transaction.authorizationList !== undefined && [
            'Authorizations',
            formatCount(transaction.authorizationList.length),
          ],
        ]}
      />
      {failure?.decoded != null && failure.decoded.args.length > 0 && (
        <Section title="Error" note="revert data">
          <DecodedCall decoded={failure.decoded} />
        </Section>
      )}
      <Section title="Input" note={`${formatCount(byteLength(transaction.input))} bytes`}>
        {decoded !== null && <DecodedCall decoded={decoded} />}
        <InputData input={transaction.input} isOpen={decoded === null} />
      </Section>
    </>
  )
}

/** Why the transaction failed, in one line. */
function Reason({ failure: { error, data, reason } }: { failure: Failure }) {
  const isUnknown = reason === error && data !== null && data !== '0x'
  return (
    <span class="bad-text break">
      {error}
      {reason !== error && `: ${reason}`}
      {isUnknown && <Code text={data} />}
    </span>
  )
}

const TYPES = ['legacy', 'with access list', 'with dynamic fee', 'with blobs', 'sets code']

/** Longer inputs are truncated; copies are complete. */
const SHOWN_INPUT = 4096

function InputData({ input, isOpen }: { input: string; isOpen: boolean }) {
  if (input === '0x') return <Empty title="No input: a plain transfer" />
  return (
    <details open={isOpen}>
      <summary>Raw input</summary>
      <div class="raw">
        <CopyButton text={input} what="input" />
        <pre>{input.length > SHOWN_INPUT ? `${input.slice(0, SHOWN_INPUT)}…` : input}</pre>
      </div>
    </details>
  )
}

function Logs({ logs }: { logs: readonly (Log | DecodedLog)[] }) {
  if (logs.length === 0) return <Empty title="This transaction has no logs" />
  return (
    <div class="cards">
      {logs.map((log) => (
        <LogCard key={log.logIndex} log={log} />
      ))}
    </div>
  )
}
