import type { ComponentChildren } from 'preact'
import { hexToNumber } from 'viem'
import { newestBlock } from '../client/live.js'
import { CallFailed, call, callIfServed } from '../client/rpc.js'
import { useStore } from '../client/store.js'
import type { Block, Decoded, DecodedLog, Failure, Log, Receipt, Status, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, formatCount, formatEther, formatGwei, formatPlural, formatShare } from '../format.js'
import { linkTo, type Route } from '../routing.js'
import { DecodedCall, LogCard } from '../ui/Decoded.js'
import { Facts, Section, Tabs, ViewTitle } from '../ui/Layout.js'
import { MethodName } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, BlockLink, Code, CopyButton, Ether, Time } from '../ui/Value.js'
import { Outcome, Recipient } from './BlockView.js'
import { CallTree } from './CallTree.js'
import { FailedFrame, TransactionSummary } from './TransactionSummary.js'
import { StateDifference } from './TransactionTraces.js'

interface Shown {
  transaction: Transaction
  /** Undefined while it is pending. */
  receipt: Receipt | undefined
  /** Undefined while it is pending. */
  block: BlockHead | undefined
}

type BlockHead = Pick<Block, 'timestamp' | 'baseFeePerGas'>

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
      <ViewTitle item={hash} beside={shown && <MethodName input={shown.transaction.input} to={shown.transaction.to} />}>
        Transaction
      </ViewTitle>
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
  if (transaction === null) return null
  const { blockNumber } = transaction
  const block = blockNumber === null ? null : await call<BlockHead | null>('eth_getBlockByNumber', [blockNumber, false])
  return { transaction, receipt: receipt ?? undefined, block: block ?? undefined }
}

function TransactionPart({ tab, shown }: { tab: string; shown: Shown }) {
  const { hash } = shown.transaction
  const decoded = useRequest(() => loadDecoded(hash), [hash])
  if (tab === 'calls') return <CallTree hash={hash} />
  if (tab === 'state') return <StateDifference hash={hash} />
  if (tab === 'logs') return <Logs logs={decoded.data?.logs ?? shown.receipt?.logs ?? []} />
  const { function: input = null, failure, logs = [] } = decoded.data ?? {}
  return (
    <TransactionFacts {...shown} decoded={input} failure={failure ?? undefined}>
      {shown.receipt !== undefined && <TransactionSummary hash={hash} logs={logs} />}
    </TransactionFacts>
  )
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
  block,
  decoded,
  failure,
  children,
}: Shown & { decoded: Decoded | null; failure: Failure | undefined; children: ComponentChildren }) {
  const { blockNumber } = transaction
  const type = Number(transaction.type)
  // On the OP stack, base fees go to a vault, and deposits pay none.
  const burnsFees = receipt?.l1Fee === undefined && transaction.sourceHash === undefined
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
          failure?.error != null && ['Failed in', <FailedFrame key="v" hash={transaction.hash} />],
          blockNumber !== null && [
            'Block',
            <span key="v">
              <BlockLink number={blockNumber} />{' '}
              <span class="quiet">at index {formatCount(transaction.transactionIndex ?? '0x0')}</span>
              <Confirmations block={hexToNumber(blockNumber)} />
            </span>,
          ],
          block !== undefined && ['Time', <Time key="v" seconds={block.timestamp} />],
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
          receipt !== undefined && [
            'Fee',
            <Fee key="v" receipt={receipt} baseFeePerGas={burnsFees ? block?.baseFeePerGas : undefined} />,
          ],
          receipt?.l1Fee !== undefined && ['Fee of layer 1', <Ether key="v" wei={receipt.l1Fee} />],
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
          BigInt(transaction.mint ?? '0x0') > 0n && ['Minted', <Ether key="v" wei={transaction.mint!} />],
          transaction.sourceHash !== undefined && ['Source', <Code key="v" text={transaction.sourceHash} whole />],
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
      {children}
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

/** Blocks from that of the transaction to the newest one, and whether it is final. */
function Confirmations({ block }: { block: number }) {
  const head = useStore(newestBlock)
  const status = useRequest(() => call<Status>('cairn_getStatus'), [])
  const { safe, finalized } = status.data ?? {}
  const reached = (number: string | null | undefined) => number != null && block <= Number(number)
  const state = reached(finalized) ? 'finalized' : reached(safe) ? 'safe' : undefined
  if (head === undefined || head < block) return null
  return (
    <span class="quiet">
      , {formatPlural(head - block + 1, 'confirmation')}
      {state !== undefined && `, ${state}`}
    </span>
  )
}

/** The fee with its parts: what was burnt (EIP-1559), what the beneficiary got, and the fee of the blobs. */
function Fee({ receipt, baseFeePerGas }: { receipt: Receipt; baseFeePerGas: string | undefined }) {
  const gasUsed = BigInt(receipt.gasUsed)
  const gasFee = gasUsed * BigInt(receipt.effectiveGasPrice)
  const blobFee = BigInt(receipt.blobGasUsed ?? 0) * BigInt(receipt.blobGasPrice ?? 0)
  const baseFee = baseFeePerGas === undefined ? undefined : gasUsed * BigInt(baseFeePerGas)
  return (
    <span>
      <Ether wei={gasFee + blobFee} />{' '}
      {baseFee !== undefined && (
        <span class="quiet">
          (burnt {formatEther(baseFee + blobFee)}
          {blobFee > 0n && `, ${formatEther(blobFee)} of it for blobs`}, tip {formatEther(gasFee - baseFee)})
        </span>
      )}
    </span>
  )
}

/** Why the transaction failed, in one line. */
function Reason({ failure: { error, data, reason } }: { failure: Failure }) {
  const isUnknown = reason === error && data !== null && data !== '0x'
  return (
    <span class="bad-text break">
      {error}
      {reason !== error && (
        <>
          : <bdi>{reason}</bdi>
        </>
      )}
      {isUnknown && (
        <>
          {' '}
          <Code text={data} />
        </>
      )}
    </span>
  )
}

const TYPES: { readonly [type: number]: string } = {
  0: 'legacy',
  1: 'with access list',
  2: 'with dynamic fee',
  3: 'with blobs',
  4: 'sets code',
  126: 'deposit from layer 1',
}

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
