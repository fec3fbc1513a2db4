import { callInBatch } from '../client/rpc.js'
import type { Block, StatusBlock, Transaction } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { Section, Table } from '../ui/Layout.js'
import { MethodName } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, Ether, TransactionLink } from '../ui/Value.js'

/** The newest transactions, the last one of the newest block first. `blocks` are in the order of their numbers. */
export function NewestTransactions({ blocks, wanted }: { blocks: readonly StatusBlock[]; wanted: number }) {
  const read = chooseBlocks(blocks, wanted)
  const hashes = read.map(({ hash }) => hash)
  const request = useRequest(() => loadTransactions(hashes), [hashes])
  return (
    <Section title="Newest transactions">
      <Loaded request={request} what="the transactions">
        {(transactions) =>
          transactions.length === 0 ? (
            <Empty title="The newest blocks have no transactions" />
          ) : (
            <Table
              caption="Newest transactions"
              columns={[
                'Transaction',
                'Method',
                { name: 'From', isWide: true },
                { name: 'To', isWide: true },
                { name: 'Value, ETH', isNumber: true },
              ]}
              rows={transactions
                .slice(0, wanted)
                .map(({ hash, input, to, from, value }) => [
                  <TransactionLink key="hash" hash={hash} copies={false} isBrief />,
                  <MethodName key="method" input={input} to={to} />,
                  <AddressLink key="from" address={from} copies={false} isBrief />,
                  to === null ? (
                    <span class="quiet">new contract</span>
                  ) : (
                    <AddressLink key="to" address={to} copies={false} isBrief />
                  ),
                  <Ether key="value" wei={value} isBrief />,
                ])}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

/** Blocks with the newest transactions, newest first. */
function chooseBlocks(blocks: readonly StatusBlock[], wanted: number): StatusBlock[] {
  const chosen: StatusBlock[] = []
  let found = 0
  for (const block of blocks.filter(({ transactions }) => transactions > 0).reverse()) {
    if (found >= wanted) break
    chosen.push(block)
    found += block.transactions
  }
  return chosen
}

async function loadTransactions(hashes: readonly string[]): Promise<Transaction[]> {
  const blocks = await Promise.all(hashes.map((hash) => callInBatch<Block | null>('eth_getBlockByHash', [hash, true])))
  return blocks.flatMap((block) => block?.transactions.toReversed() ?? [])
}
