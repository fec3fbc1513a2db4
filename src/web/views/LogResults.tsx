import { useState } from 'preact/hooks'
import type { LogsSoFar } from '../client/logPages.js'
import { type CallFailed, callIfServed } from '../client/rpc.js'
import type { DecodedLog, Log } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { EXPORT_FORMATS, formatRows } from '../exportRows.js'
import { formatCount, formatPlural } from '../format.js'
import { LogCard } from '../ui/Decoded.js'
import { download } from '../ui/download.js'
import { Section, Table } from '../ui/Layout.js'
import { EventName } from '../ui/Name.js'
import { Empty, Failure } from '../ui/States.js'
import { AddressLink, BlockLink, TransactionLink } from '../ui/Value.js'

/** Rows drawn at first, and added by each click on more. Exports contain all received rows. */
const DRAWN_ROWS = 100

interface ResultsProps {
  found: LogsSoFar
  isRunning: boolean
  problem: CallFailed | undefined
  onMore: () => void
  onStop: () => void
  onRetry: () => void
}

/** The logs received so far. */
export function LogResults({ found, isRunning, problem, onMore, onStop, onRetry }: ResultsProps) {
  const { logs, scannedTo, cursor } = found
  const [drawn, setDrawn] = useState(DRAWN_ROWS)
  const [opened, setOpened] = useState<Log | undefined>()
  const isAll = cursor === undefined && !isRunning && problem === undefined
  const progress = isRunning
    ? `searching${scannedTo === undefined ? '' : `, blocks up to ${formatCount(scannedTo)}`} …`
    : isAll
      ? 'all of them'
      : 'there are more'
  return (
    <Section title="Results" note={<span role="status">{`${formatPlural(logs.length, 'log')}, ${progress}`}</span>}>
      {problem !== undefined && <Failure error={problem} retry={onRetry} />}
      <div class="buttons">
        {isRunning && (
          <button type="button" onClick={onStop}>
            Stop
          </button>
        )}
        {!isRunning && cursor !== undefined && (
          <button type="button" onClick={onMore}>
            Load more
          </button>
        )}
        {logs.length > 0 && (
          <span class="export">
            Save as{' '}
            {EXPORT_FORMATS.map((format) => (
              <button
                key={format}
                type="button"
                onClick={() =>
                  download('logs', formatRows(logs as unknown as { [column: string]: unknown }[], format), format)
                }
              >
                {format.toUpperCase()}
              </button>
            ))}
          </span>
        )}
      </div>
      {isAll && logs.length === 0 && (
        <Empty title="No log matches">
          Widen the range, or leave out a topic. “Search and explain” shows which condition excludes them.
        </Empty>
      )}
      {opened !== undefined && (
        <OpenedLog key={`${opened.blockHash}${opened.logIndex}`} log={opened} onClose={() => setOpened(undefined)} />
      )}
      {logs.length > 0 && <LogTable logs={logs.slice(0, drawn)} onOpen={setOpened} />}
      {logs.length > drawn && (
        <button type="button" onClick={() => setDrawn(drawn + DRAWN_ROWS)}>
          Show {formatCount(Math.min(DRAWN_ROWS, logs.length - drawn))} more of {formatCount(logs.length)}
        </button>
      )}
    </Section>
  )
}

function LogTable({ logs, onOpen }: { logs: readonly Log[]; onOpen: (log: Log) => void }) {
  return (
    <Table
      caption="Logs"
      columns={[
        { name: 'Block', isNumber: true },
        { name: 'Index', isNumber: true, isWide: true },
        { name: 'Transaction', isWide: true },
        'Address',
        'Event',
        'Details',
      ]}
      rows={logs.map((log) => [
        <BlockLink key="block" number={log.blockNumber} />,
        formatCount(log.logIndex),
        <TransactionLink key="hash" hash={log.transactionHash} copies={false} />,
        <AddressLink key="address" address={log.address} copies={false} />,
        <EventName key="event" topic={log.topics[0]} address={log.address} />,
        <button key="open" type="button" class="link" onClick={() => onOpen(log)}>
          Show
          <span class="hidden">
            {' '}
            log {formatCount(log.logIndex)} of block {formatCount(log.blockNumber)}
          </span>
        </button>,
      ])}
    />
  )
}

/** One log, decoded if the server can. */
function OpenedLog({ log, onClose }: { log: Log; onClose: () => void }) {
  const request = useRequest(() => decodeLog(log), [log.blockHash, log.logIndex])
  return (
    <div class="opened">
      <LogCard log={request.data ?? log} />
      <button type="button" class="link" onClick={onClose}>
        Close
      </button>
    </div>
  )
}

async function decodeLog({ blockHash, address, logIndex }: Log): Promise<DecodedLog | undefined> {
  const logs = await callIfServed<DecodedLog[]>('cairn_getDecodedLogs', [{ blockHash, address }])
  return logs?.find((log) => log.logIndex === logIndex)
}
