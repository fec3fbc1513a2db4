import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { hexToNumber } from 'viem'
import { newestBlock } from '../client/live.js'
import { call, isOnline } from '../client/rpc.js'
import { keyProblem } from '../client/session.js'
import { useStore } from '../client/store.js'
import type { Status } from '../client/types.js'
import { type Request, useRequest } from '../client/useRequest.js'
import { formatBytes, formatCount, formatLag, formatShare } from '../format.js'
import { linkTo } from '../routing.js'
import { Chart } from '../ui/Chart.js'
import { Section, Table, ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { BlockLink, Time } from '../ui/Value.js'
import { DevelopmentAccounts } from './DevelopmentAccounts.js'
import { NewestTransactions } from './NewestTransactions.js'

/** Blocks in the charts, and in the table. */
const CHART_BLOCKS = 60
const TABLE_ROWS = 12

const REFRESH_MS = 2_000
/** Number of rates in the chart: four minutes. */
const RATES = 120

/** Data and activity of the server. */
export function OverviewView() {
  const head = useStore(newestBlock)
  const status = useRequest(() => call<Status>('cairn_getStatus', [CHART_BLOCKS]), [])
  const rates = useRates(status)
  const { reload } = status
  useEffect(() => {
    if (head !== undefined && status.data !== undefined) reload()
  }, [head])
  return (
    <>
      <ViewTitle>Overview</ViewTitle>
      <Loaded request={status} what="the overview">
        {(data) => (
          <>
            <Figures status={data} />
            {data.head === null && data.l2 === null && (
              <Empty title="There are no blocks yet">
                Import some with <code>cairn import</code>; they appear here at once.
              </Empty>
            )}
            <Charts status={data} rates={rates} />
            {data.head !== null && (
              <div class="halves">
                <NewestBlocks status={data} />
                <NewestTransactions blocks={data.blocks} wanted={TABLE_ROWS} />
              </div>
            )}
            {data.head !== null && <DevelopmentAccounts chainId={data.chainId} head={data.head.number} />}
          </>
        )}
      </Loaded>
    </>
  )
}

/** Request rates, each with its time in Unix seconds. */
interface Rates {
  readonly times: number[]
  readonly values: number[]
}

/** Computes requests per second from the call counts of the server. Polls while the page is visible. */
function useRates({ data, reload }: Request<Status>): Rates {
  const [rates, setRates] = useState<Rates>({ times: [], values: [] })
  const last = useRef<Status['calls'] | undefined>(undefined)
  const again = useRef(reload)
  again.current = reload
  useEffect(() => {
    const timer = setInterval(() => {
      const isWanted = document.visibilityState === 'visible' && isOnline.get() && keyProblem.get() === undefined
      if (isWanted) again.current()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  useEffect(() => {
    if (data === undefined) return
    const before = last.current
    last.current = data.calls
    const seconds = before === undefined ? 0 : data.calls.uptimeSeconds - before.uptimeSeconds
    // A restarted server counts from zero.
    if (before === undefined || seconds <= 0.2) return
    const rate = Math.max(0, data.calls.count - before.count) / seconds
    const keep = (list: number[], value: number) => [...list.slice(1 - RATES), value]
    setRates((old) => ({ times: keep(old.times, Date.now() / 1000), values: keep(old.values, rate) }))
  }, [data])
  return rates
}

/** Blocks with state, and how much of it is known. */
function describeState({ stateFromBlock, closedStates, listedStates, known }: NonNullable<Status['coverage']>): string {
  const join = (intervals: typeof closedStates) =>
    intervals.map((each) => `${formatCount(each.fromBlock)} to ${formatCount(each.toBlock)}`).join(', ')
  const earlier = join(closedStates)
  if (stateFromBlock === null) return earlier === '' ? 'without state' : `state of blocks ${earlier}`
  const newest = `state from block ${formatCount(stateFromBlock)}`
  const both = earlier === '' ? newest : `${newest}, and of ${earlier}`
  const listed = listedStates.length === 0 ? both : `${both}, states of blocks ${join(listedStates)} from access lists`
  return known === null ? listed : `${listed}, ${formatCount(known.accounts)} accounts known`
}

function Figures({ status }: { status: Status }) {
  const { head, coverage, counts, database, l2, replication, chainId, version, highestBlock, finalized, headSource } =
    status
  const gap = coverage?.gap
  return (
    <div class="figures">
      {head !== null && (
        <Figure
          name={headSource === 'consensus client' ? 'Head (consensus client)' : 'Head'}
          note={<Time seconds={head.timestamp} onlyAge />}
        >
          <BlockLink number={head.number} />
        </Figure>
      )}
      {coverage !== null && (
        <Figure
          name="Blocks stored"
          note={
            gap ? `${formatCount(gap.fromBlock)} to ${formatCount(gap.toBlock)} to be fetched` : describeState(coverage)
          }
        >
          {formatCount(coverage.fromBlock)} – {formatCount(coverage.toBlock)}
        </Figure>
      )}
      <Figure name="Transactions" note={`chain id ${chainId === null ? 'none' : BigInt(chainId)}`}>
        {formatCount(counts.transactions)}
      </Figure>
      <Figure name="Logs" note={<a href={linkTo('logs')}>explore</a>}>
        {formatCount(counts.logs)}
      </Figure>
      <Figure name="Database" note={`${formatBytes(database.walBytes)} write-ahead log`}>
        {formatBytes(database.bytes)}
      </Figure>
      {l2 !== null && (
        <Figure
          name="Layer-2 head"
          note={
            l2.acceptedOnL1 === null ? 'none accepted on layer 1' : `on layer 1 up to ${formatCount(l2.acceptedOnL1)}`
          }
        >
          <a href={linkTo('l2', hexToNumber(l2.head))}>{formatCount(l2.head)}</a>
        </Figure>
      )}
      {replication !== null && (
        <Figure
          name={`Replication: ${replication.role}`}
          note={`${replication.state}, epoch ${replication.epoch}, sequence ${formatCount(replication.sequence)}`}
        >
          {formatLag(replication)}
        </Figure>
      )}
      {finalized !== null && highestBlock === null && (
        <Figure name="Finalized" note={`Cairn ${version}`}>
          <BlockLink number={finalized} />
        </Figure>
      )}
      {highestBlock !== null && (
        <Figure name="Upstream head" note="catching up">
          {formatCount(highestBlock)}
        </Figure>
      )}
    </div>
  )
}

function Figure({ name, note, children }: { name: string; note: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="figure">
      <span class="figure-name">{name}</span>
      <span class="figure-value number">{children}</span>
      <span class="figure-note">{note}</span>
    </div>
  )
}

function Charts({ status, rates }: { status: Status; rates: Rates }) {
  const { blocks } = status
  const data = useMemo(
    () => ({
      numbers: blocks.map(({ number }) => hexToNumber(number)),
      gas: blocks.map(({ gasUsed }) => Number(gasUsed) / 1e6),
      transactions: blocks.map(({ transactions }) => transactions),
    }),
    [blocks],
  )
  const newest = rates.values.at(-1)
  const block = (number: number) => `Block ${formatCount(number)}`
  return (
    <div class="charts">
      {blocks.length > 0 && (
        <>
          <ChartCard title="Gas per block" unit="Mgas">
            <Chart
              label={`Gas used by the newest ${blocks.length} blocks, ${data.gas.at(-1)} million in the last`}
              x={data.numbers}
              y={data.gas}
              shape="bars"
              formatX={(value) => formatCount(value)}
              formatY={(value) => `${Number(value.toFixed(3))}`}
            />
          </ChartCard>
          <ChartCard
            title="Transactions per block"
            unit={`${block(data.numbers[0])} to ${formatCount(data.numbers.at(-1)!)}`}
          >
            <Chart
              label={`Transactions of the newest ${blocks.length} blocks, ${data.transactions.at(-1)} in the last`}
              x={data.numbers}
              y={data.transactions}
              shape="bars"
              formatX={(value) => formatCount(value)}
              formatY={(value) => (Number.isInteger(value) ? formatCount(value) : '')}
              least={4}
            />
          </ChartCard>
        </>
      )}
      <ChartCard title="Requests" unit={newest === undefined ? 'measuring …' : `${newest.toFixed(1)} per second`}>
        <Chart
          label={`Requests per second, ${newest?.toFixed(1) ?? 'not known'} now`}
          x={rates.times}
          y={rates.values}
          shape="line"
          isTime
          formatY={(value) => `${Number(value.toFixed(1))}`}
          least={2}
        />
      </ChartCard>
    </div>
  )
}

function ChartCard({ title, unit, children }: { title: string; unit: string; children: ComponentChildren }) {
  return (
    <figure class="card">
      <figcaption>
        <strong>{title}</strong> <span class="quiet">{unit}</span>
      </figcaption>
      {children}
    </figure>
  )
}

function NewestBlocks({ status }: { status: Status }) {
  const blocks = status.blocks.slice(-TABLE_ROWS).reverse()
  return (
    <Section title="Newest blocks">
      <Table
        caption="Newest blocks"
        columns={[
          { name: 'Block', isNumber: true },
          { name: 'Age', isNumber: true },
          { name: 'Txs', isNumber: true },
          { name: 'Logs', isNumber: true, isWide: true },
          { name: 'Gas used', isNumber: true },
        ]}
        rows={blocks.map((block) => [
          <BlockLink key="number" number={block.number} />,
          <Time key="time" seconds={block.timestamp} onlyAge />,
          formatCount(block.transactions),
          formatCount(block.logs),
          <span key="gas" title={`of ${formatCount(block.gasLimit)}`}>
            {formatCount(block.gasUsed)}{' '}
            <span class="quiet wide">{formatShare(BigInt(block.gasUsed), BigInt(block.gasLimit))}</span>
          </span>,
        ])}
      />
    </Section>
  )
}
