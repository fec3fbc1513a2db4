import { hexToNumber } from 'viem'
import { call, callInBatch } from '../client/rpc.js'
import type { L2Block, Status } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount } from '../format.js'
import { linkTo, type Route } from '../routing.js'
import { Facts, Section, Table, ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { Code, Time } from '../ui/Value.js'

const PAGE_BLOCKS = 25

/** Layer-2 blocks: the newest, or one. */
export function Layer2View({ route }: { route: Route }) {
  const transaction = route.query.get('tx')
  if (transaction !== null) return <L2Transaction hash={transaction} />
  return route.item === '' ? <L2Blocks top={route.query.get('to')} /> : <L2BlockView number={Number(route.item)} />
}

async function loadBlocks(top: string | null): Promise<{ status: Status; blocks: L2Block[] } | null> {
  const status = await call<Status>('cairn_getStatus')
  if (status.l2 === null) return null
  const [first, head] = [hexToNumber(status.l2.fromBlock), hexToNumber(status.l2.head)]
  const newest = Math.min(head, top === null ? head : Number(top))
  const numbers = Array.from({ length: Math.max(0, Math.min(PAGE_BLOCKS, newest - first + 1)) }, (_, i) => newest - i)
  const blocks = await Promise.all(numbers.map(loadBlock))
  return { status, blocks: blocks.filter((block) => block !== null) }
}

function loadBlock(number: number): Promise<L2Block | null> {
  return callInBatch<L2Block | null>('zk_getBlockWithTxHashes', { block_id: { block_number: number } })
}

function L2Blocks({ top }: { top: string | null }) {
  const request = useRequest(() => loadBlocks(top), [top])
  return (
    <>
      <ViewTitle>Layer 2</ViewTitle>
      <Loaded request={request} what="the layer-2 blocks">
        {(data) =>
          data === null ? (
            <Empty title="This database holds no layer-2 blocks">
              Import some with <code>cairn import FILE.ndjson</code>, or follow a node with{' '}
              <code>cairn serve --l2-upstream URL</code>.
            </Empty>
          ) : (
            <Section
              title="Blocks"
              note={`${formatCount(data.status.l2!.fromBlock)} to ${formatCount(data.status.l2!.head)}`}
            >
              <Table
                caption="Layer-2 blocks"
                columns={[
                  { name: 'Block', isNumber: true },
                  { name: 'Hash', isWide: true },
                  { name: 'Age', isNumber: true },
                  { name: 'Transactions', isNumber: true, isWide: true },
                  'Status',
                ]}
                rows={data.blocks.map((block) => [
                  <a key="number" href={linkTo('l2', block.block_number)}>
                    {formatCount(block.block_number)}
                  </a>,
                  <Code key="hash" text={block.block_hash} />,
                  <Time key="time" seconds={BigInt(block.timestamp)} onlyAge />,
                  formatCount(block.transactions.length),
                  <L2Status key="status" status={block.status} />,
                ])}
              />
              <Pages blocks={data.blocks} status={data.status} />
            </Section>
          )
        }
      </Loaded>
    </>
  )
}

function Pages({ blocks, status }: { blocks: readonly L2Block[]; status: Status }) {
  const [newest, oldest] = [blocks[0]?.block_number, blocks.at(-1)?.block_number]
  if (newest === undefined || oldest === undefined) return null
  return (
    <nav class="pages" aria-label="Pages of blocks">
      {newest < hexToNumber(status.l2!.head) && <a href={linkTo('l2')}>← Newest</a>}
      {oldest > hexToNumber(status.l2!.fromBlock) && <a href={linkTo('l2', '', { to: String(oldest - 1) })}>Older →</a>}
    </nav>
  )
}

function L2Status({ status }: { status: string }) {
  const text = status.replaceAll('_', ' ').toLowerCase()
  return (
    <span class={status === 'REJECTED' ? 'badge bad' : status === 'ACCEPTED_ON_L1' ? 'badge good' : 'badge'}>
      {text}
    </span>
  )
}

function L2BlockView({ number }: { number: number }) {
  const request = useRequest(() => loadBlock(number), [number])
  return (
    <>
      <ViewTitle
        actions={
          request.data && (
            <>
              {number > 0 && <a href={linkTo('l2', number - 1)}>← Previous</a>}
              <a href={linkTo('l2', number + 1)}>Next →</a>
            </>
          )
        }
      >
        Layer-2 block {formatCount(number)}
      </ViewTitle>
      <Loaded request={request} what="the block">
        {(block) =>
          block === null ? (
            <Empty title="This block is not available">
              See the <a href={linkTo('l2')}>layer-2 blocks</a> of this server.
            </Empty>
          ) : (
            <L2BlockFacts block={block} />
          )
        }
      </Loaded>
    </>
  )
}

function L2BlockFacts({ block }: { block: L2Block }) {
  const price = block.l1_gas_price
  const version = block.zk_version ?? block.starknet_version
  return (
    <>
      <Facts
        facts={[
          ['Status', <L2Status key="v" status={block.status} />],
          ['Hash', <Code key="v" text={block.block_hash} whole />],
          ['Parent', <Code key="v" text={block.parent_hash} />],
          ['Time', <Time key="v" seconds={BigInt(block.timestamp)} />],
          ['State root', <Code key="v" text={block.new_root} />],
          ['Sequencer', <Code key="v" text={block.sequencer_address} />],
          price.price_in_wei !== undefined && ['Gas price', `${formatCount(price.price_in_wei)} wei`],
          price.price_in_fri !== undefined && ['Gas price in fri', formatCount(price.price_in_fri)],
          version !== undefined && ['Version', version],
        ]}
      />
      <Section title="Transactions" note={formatCount(block.transactions.length)}>
        {block.transactions.length === 0 ? (
          <Empty title="This block has no transactions" />
        ) : (
          <Table
            caption="Transactions of the block"
            columns={[{ name: '#', isNumber: true }, 'Hash']}
            rows={block.transactions.map((hash, i) => [
              i,
              <a key="hash" href={linkTo('l2', '', { tx: hash })}>
                <code class="whole">{hash}</code>
              </a>,
            ])}
          />
        )}
      </Section>
    </>
  )
}

/** A layer-2 transaction: its receipt if the database has bodies, else its status. */
function L2Transaction({ hash }: { hash: string }) {
  const receipt = useRequest(() => call<object>('starknet_getTransactionReceipt', [hash]), [hash])
  const status = useRequest(() => call<{ finality_status: string }>('starknet_getTransactionStatus', [hash]), [hash])
  return (
    <>
      <ViewTitle item={hash}>Layer-2 transaction</ViewTitle>
      <Facts
        facts={[
          ['Hash', <Code key="v" text={hash} whole />],
          status.data !== undefined && ['Status', <L2Status key="v" status={status.data.finality_status} />],
        ]}
      />
      {receipt.data !== undefined ? (
        <Section title="Receipt">
          <pre class="json">{JSON.stringify(receipt.data, null, 2)}</pre>
        </Section>
      ) : (
        receipt.error !== undefined && (
          <Empty title="The database holds no receipt of it">
            Blocks from files may have the hashes of their transactions only.
          </Empty>
        )
      )}
    </>
  )
}
