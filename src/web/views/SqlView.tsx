import { useRef, useState } from 'preact/hooks'
import { runQuery, type SqlRow } from '../client/sql.js'
import { EXPORT_FORMATS, formatRows } from '../exportRows.js'
import { formatCount, formatMs } from '../format.js'
import { download } from '../ui/download.js'
import { Section, Table, ViewTitle } from '../ui/Layout.js'
import { Empty } from '../ui/States.js'

const EXAMPLES: readonly [name: string, query: string][] = [
  ['Newest blocks', 'SELECT number, hash, gas_used FROM v_blocks ORDER BY number DESC LIMIT 20'],
  ['Busiest contracts', 'SELECT address, count(*) AS logs FROM v_logs GROUP BY address ORDER BY logs DESC LIMIT 20'],
  ['Transfers', 'SELECT * FROM v_erc20_transfers LIMIT 50'],
  ['Views', "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name"],
]

/** Max rows drawn; exports contain all received rows. */
const DRAWN_ROWS = 500

interface Outcome {
  rows: readonly SqlRow[]
  ms: number | undefined
  error: string | undefined
  isOff: boolean
}

/** SQL queries on the views of the database. */
export function SqlView() {
  const [query, setQuery] = useState(EXAMPLES[0][1])
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [isRunning, setRunning] = useState(false)
  const stop = useRef<AbortController | undefined>(undefined)
  const run = async (event?: Event) => {
    event?.preventDefault()
    stop.current?.abort()
    const own = new AbortController()
    stop.current = own
    setRunning(true)
    setOutcome({ rows: [], ms: undefined, error: undefined, isOff: false })
    const begun = performance.now()
    const end = await runQuery(query, own.signal, (rows) =>
      setOutcome({ rows, ms: undefined, error: undefined, isOff: false }),
    )
    if (stop.current !== own) return
    setOutcome({ ...end, ms: performance.now() - begun })
    setRunning(false)
  }
  return (
    <>
      <ViewTitle>SQL</ViewTitle>
      <form class="card" onSubmit={(event) => void run(event)}>
        <div class="examples">
          <span class="quiet">Examples:</span>
          {EXAMPLES.map(([name, text]) => (
            <button key={name} type="button" class="link" onClick={() => setQuery(text)}>
              {name}
            </button>
          ))}
        </div>
        <label for="query">Query</label>
        <textarea
          id="query"
          rows={6}
          value={query}
          spellcheck={false}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run(event)
          }}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Run
          </button>
          {isRunning && (
            <button type="button" onClick={() => stop.current?.abort()}>
              Stop
            </button>
          )}
          <span class="quiet">Ctrl+Enter runs it. The tables are in docs/sql.md.</span>
        </div>
      </form>
      {outcome !== undefined && <Results {...outcome} isRunning={isRunning} />}
    </>
  )
}

function Results({ rows, ms, error, isOff, isRunning }: Outcome & { isRunning: boolean }) {
  if (isOff) {
    return (
      <Empty title="SQL is off on this server">
        Start it with <code>cairn serve --sql</code>, or query the database file itself: <code>cairn sql</code>.
      </Empty>
    )
  }
  const columns = Object.keys(rows[0] ?? {})
  const note = `${formatCount(rows.length)} rows${isRunning ? ' …' : ms === undefined ? '' : ` in ${formatMs(ms)}`}`
  return (
    <Section title="Result" note={<span role="status">{note}</span>}>
      {error !== undefined && (
        <div class="state failure" role="alert">
          <strong>The query failed</strong>
          <p>{error}</p>
        </div>
      )}
      {!isRunning && error === undefined && rows.length === 0 && <Empty title="No rows" />}
      {rows.length > 0 && (
        <>
          <div class="buttons">
            <span class="export">
              Save as{' '}
              {EXPORT_FORMATS.map((format) => (
                <button key={format} type="button" onClick={() => download('query', formatRows(rows, format), format)}>
                  {format.toUpperCase()}
                </button>
              ))}
            </span>
          </div>
          <Table
            caption="Rows of the query"
            columns={columns.map((name) => (typeof rows[0][name] === 'number' ? { name, isNumber: true } : name))}
            rows={rows.slice(0, DRAWN_ROWS).map((row) => columns.map((name) => showCell(row[name])))}
          />
          {rows.length > DRAWN_ROWS && (
            <p class="quiet">
              {formatCount(DRAWN_ROWS)} of {formatCount(rows.length)} rows are shown; a file has all of them.
            </p>
          )}
        </>
      )}
    </Section>
  )
}

function showCell(value: unknown) {
  if (value === null) return <span class="quiet">null</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.startsWith('0x') ? <code title={text}>{text.length > 66 ? `${text.slice(0, 66)}…` : text}</code> : text
}
