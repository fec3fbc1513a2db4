import { hexToNumber } from 'viem'
import { newestBlock } from '../client/live.js'
import { call } from '../client/rpc.js'
import { useStore } from '../client/store.js'
import type { Block, Receipt } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { cutMiddle, formatBytes, formatCount, formatGwei, formatShare } from '../format.js'
import { l1OriginOf } from '../l1Origin.js'
import { linkTo, type Route } from '../routing.js'
import { Facts, Section, Table, ViewTitle } from '../ui/Layout.js'
import { MethodName } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, Code, Ether, Time, TransactionLink } from '../ui/Value.js'

interface BlockParts {
  block: Block
  receipts: Receipt[]
}

/** A block, its transactions and withdrawals. */
export function BlockView({ route }: { route: Route }) {
  const request = useRequest(() => loadBlock(route.item), [route.item])
  const number = request.data ? hexToNumber(request.data.block.number) : undefined
  const head = useStore(newestBlock)
  return (
    <>
      <ViewTitle
        actions={
          number !== undefined && (
            <>
              {number > 0 && <a href={linkTo('block', number - 1)}>← Previous</a>}
              {(head === undefined || number < head) && <a href={linkTo('block', number + 1)}>Next →</a>}
              <a href={linkTo('logs', '', { from: String(number), to: String(number) })}>Logs</a>
            </>
          )
        }
      >
        Block {number === undefined ? cutMiddle(route.item) : formatCount(number)}
      </ViewTitle>
      <Loaded request={request} what="the block">
        {(data) =>
          data === null ? (
            <Empty title={`Block ${route.item} is not available`}>
              The <a href={linkTo('')}>overview</a> shows which blocks this server holds.
            </Empty>
          ) : (
            <BlockFacts {...data} />
          )
        }
      </Loaded>
    </>
  )
}

/** Returns null if the block is not available. */
async function loadBlock(item: string): Promise<BlockParts | null> {
  const id = /^\d+$/.test(item) ? `0x${Number(item).toString(16)}` : item
  const isHash = /^0x[\da-f]{64}$/i.test(item)
  const block = await call<Block | null>(isHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', [id, true])
  if (block === null) return null
  const receipts = block.hash === null ? [] : await call<Receipt[]>('eth_getBlockReceipts', [block.hash])
  return { block, receipts }
}

function BlockFacts({ block, receipts }: BlockParts) {
  const { transactions, withdrawals = [] } = block
  const baseFee = block.baseFeePerGas === undefined ? undefined : BigInt(block.baseFeePerGas)
  const fees = receipts.reduce(
    (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPrice),
    0n,
  )
  const logs = receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0)
  const l1Origin = l1OriginOf(transactions)
  const failed = receipts.filter(({ status }) => status === '0x0').length
  const created = receipts.filter(({ contractAddress, status }) => contractAddress !== null && status !== '0x0').length
  return (
    <>
      <Facts
        facts={[
          ['Hash', <Code key="v" text={block.hash} whole />],
          ['Parent', <BlockHash key="v" hash={block.parentHash} />],
          ['Time', <Time key="v" seconds={block.timestamp} />],
          l1Origin !== undefined && ['Layer 1 block', formatCount(l1Origin)],
          ['Beneficiary', <AddressLink key="v" address={block.miner} whole />],
          [
            'Transactions',
            `${formatCount(transactions.length)}${failed > 0 ? `, ${formatCount(failed)} failed` : ''}${created > 0 ? `, ${formatCount(created)} made a contract` : ''}`,
          ],
          ['Logs', formatCount(logs)],
          [
            'Gas',
            <span key="v">
              {formatCount(block.gasUsed)} of {formatCount(block.gasLimit)}{' '}
              <span class="quiet">({formatShare(BigInt(block.gasUsed), BigInt(block.gasLimit))})</span>
            </span>,
          ],
          baseFee !== undefined && ['Base fee', `${formatGwei(baseFee)} gwei`],
          ['Fees', <Ether key="v" wei={fees} />],
          // On the OP stack, base fees go to a vault.
          baseFee !== undefined &&
            l1Origin === undefined && ['Burnt', <Ether key="v" wei={baseFee * BigInt(block.gasUsed)} />],
          block.blobGasUsed !== undefined && ['Blob gas', formatCount(block.blobGasUsed)],
          block.uncles.length > 0 && ['Uncles', formatCount(block.uncles.length)],
          ['Size', formatBytes(hexToNumber(block.size))],
          block.extraData !== '0x' && ['Extra data', <Code key="v" text={block.extraData} />],
          ['State root', <Code key="v" text={block.stateRoot} />],
          ['Receipts root', <Code key="v" text={block.receiptsRoot} />],
        ]}
      />
      <BlockTransactions block={block} receipts={receipts} />
      {withdrawals.length > 0 && <Withdrawals withdrawals={withdrawals} />}
    </>
  )
}

function BlockTransactions({ block, receipts }: BlockParts) {
  const { transactions } = block
  return (
    <Section title="Transactions" note={formatCount(transactions.length)}>
      {transactions.length === 0 ? (
        <Empty title="This block has no transactions" />
      ) : (
        <Table
          caption={`Transactions of block ${hexToNumber(block.number)}`}
          columns={[
            { name: '#', isNumber: true, isWide: true },
            'Hash',
            'Method',
            { name: 'From', isWide: true },
            { name: 'To', isWide: true },
            { name: 'Value, ETH', isNumber: true },
            { name: 'Gas used', isNumber: true, isWide: true },
            { name: 'Logs', isNumber: true, isWide: true },
            'Result',
          ]}
          rows={transactions.map((transaction, i) => [
            i,
            <span key="hash">
              <TransactionLink hash={transaction.hash} copies={false} isBrief />
              {transaction.sourceHash !== undefined && <span class="badge">deposit</span>}
            </span>,
            <MethodName key="method" input={transaction.input} to={transaction.to} />,
            <AddressLink key="from" address={transaction.from} copies={false} isBrief />,
            <Recipient key="to" to={transaction.to} created={receipts[i]?.contractAddress ?? null} />,
            <Ether key="value" wei={transaction.value} isBrief />,
            receipts[i] ? formatCount(receipts[i].gasUsed) : '',
            receipts[i]?.logs.length ?? '',
            <Outcome key="result" receipt={receipts[i]} />,
          ])}
        />
      )}
    </Section>
  )
}

function Withdrawals({ withdrawals }: { withdrawals: NonNullable<Block['withdrawals']> }) {
  return (
    <Section title="Withdrawals" note={formatCount(withdrawals.length)}>
      <Table
        caption="Withdrawals"
        columns={[
          { name: 'Index', isNumber: true, isWide: true },
          { name: 'Validator', isNumber: true },
          'Address',
          { name: 'Amount, ETH', isNumber: true },
        ]}
        rows={withdrawals.map(({ index, validatorIndex, address, amount }) => [
          formatCount(index),
          formatCount(validatorIndex),
          <AddressLink key="address" address={address} copies={false} isBrief />,
          <Ether key="amount" wei={BigInt(amount) * 1_000_000_000n} isBrief />,
        ])}
      />
    </Section>
  )
}

function BlockHash({ hash }: { hash: string }) {
  return (
    <a href={linkTo('block', hash)}>
      <code class="whole">{hash}</code>
    </a>
  )
}

/** Recipient of a transaction, or the contract that it created. */
export function Recipient({ to, created }: { to: string | null; created: string | null }) {
  if (to !== null) return <AddressLink address={to} copies={false} isBrief />
  if (created === null) return <span class="quiet">new contract</span>
  return (
    <>
      <span class="quiet">new </span>
      <AddressLink address={created} copies={false} isBrief />
    </>
  )
}

/** Whether a transaction succeeded. Receipts before Byzantium have no status. */
export function Outcome({ receipt }: { receipt: Receipt | undefined }) {
  if (receipt?.status === undefined) return <span class="quiet">–</span>
  return receipt.status === '0x1' ? <span class="badge good">success</span> : <span class="badge bad">failed</span>
}
