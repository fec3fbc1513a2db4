import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { runQuery, type SqlRow } from '../client/sql.js'
import { clearHistory, rememberQuery, sqlHistory } from '../client/sqlHistory.js'
import { useStore } from '../client/store.js'
import { EXPORT_FORMATS, formatRows } from '../exportRows.js'
import { formatCount, formatMs } from '../format.js'
import { chartColumns } from '../resultChart.js'
import { goTo, linkTo, type Route } from '../routing.js'
import { download } from '../ui/download.js'
import { Section, Table, ViewTitle } from '../ui/Layout.js'
import { ResultChart } from '../ui/ResultChart.js'
import { Empty } from '../ui/States.js'
import { CopyButton } from '../ui/Value.js'
import { SqlSchema } from './SqlSchema.js'

const EXAMPLES: readonly [name: string, query: string][] = [
  ['Newest blocks', 'SELECT number, hash, gas_used FROM v_blocks ORDER BY number DESC LIMIT 20'],
  ['Busiest contracts', 'SELECT address, count(*) AS logs FROM v_logs GROUP BY address ORDER BY logs DESC LIMIT 20'],
  ['Transfers', 'SELECT * FROM v_erc20_transfers LIMIT 50'],
  ['Gas by block', 'SELECT number, gas_used FROM v_blocks ORDER BY number LIMIT 500'],
]

/** Max rows drawn; exports contain all received rows. */
const DRAWN_ROWS = 500

interface Outcome {
  rows: readonly SqlRow[]
  ms: number | undefined
  error: string | undefined
  isOff: boolean
}

/** SQL queries on the views of the database. The query that was run is in the URL, so that it can be shared. */
export function SqlView({ route }: { route: Route }) {
  const linked = route.query.get('q') ?? EXAMPLES[0][1]
  const isRun = route.query.get('run') === '1'
  const [query, setQuery] = useState(linked)
  const [turn, setTurn] = useState(0)
  const editor = useRef<HTMLTextAreaElement>(null)
  const { outcome, isRunning, start, stop } = useQuery()
  useEffect(() => setQuery(linked), [linked])
  useEffect(() => {
    if (isRun) start(linked)
  }, [linked, isRun, turn])
  const run = (event?: Event) => {
    event?.preventDefault()
    if (query.trim() === '') return
    rememberQuery(query)
    if (isRun && query === linked) setTurn(turn + 1)
    else goTo(linkTo('sql', '', { q: query, run: '1' }))
  }
  const insert = (text: string) => {
    const field = editor.current
    if (field === null) return
    field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end')
    setQuery(field.value)
    field.focus()
  }
  return (
    <>
      <ViewTitle item={isRun ? linked : ''}>SQL</ViewTitle>
      <form class="card" onSubmit={run}>
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
          ref={editor}
          rows={6}
          value={query}
          spellcheck={false}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run()
          }}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Run
          </button>
          {isRunning && (
            <button type="button" onClick={stop}>
              Stop
            </button>
          )}
          <span class="quiet">Ctrl+Enter runs it. The address of this page then has the query.</span>
          {isRun && <CopyButton text={location.href} what="link to the query" />}
        </div>
        <SqlSchema onChoose={insert} />
        <QueryHistory onChoose={setQuery} />
      </form>
      {outcome !== undefined && <Results {...outcome} isRunning={isRunning} />}
    </>
  )
}

/** Runs one query at a time. */
function useQuery() {
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [isRunning, setRunning] = useState(false)
  const current = useRef<AbortController | undefined>(undefined)
  const start = async (query: string) => {
    current.current?.abort()
    const own = new AbortController()
    current.current = own
    setRunning(true)
    setOutcome({ rows: [], ms: undefined, error: undefined, isOff: false })
    const begun = performance.now()
    const end = await runQuery(query, own.signal, (rows) => {
      if (current.current === own) setOutcome({ rows, ms: undefined, error: undefined, isOff: false })
    })
    if (current.current !== own) return
    setOutcome({ ...end, ms: performance.now() - begun })
    setRunning(false)
  }
  useEffect(
    () => () => {
      current.current?.abort()
      current.current = undefined
    },
    [],
  )
  return {
    outcome,
    isRunning,
    start: (query: string) => void start(query),
    stop: () => current.current?.abort(),
  }
}

/** The queries that were run in this browser. */
function QueryHistory({ onChoose }: { onChoose: (query: string) => void }) {
  const queries = useStore(sqlHistory)
  if (queries.length === 0) return null
  return (
    <details>
      <summary>History in this browser, {formatCount(queries.length)}</summary>
      <ul class="history">
        {queries.map((query) => (
          <li key={query}>
            <button type="button" class="link" onClick={() => onChoose(query)}>
              <code>{query.length > 200 ? `${query.slice(0, 200)}…` : query}</code>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={clearHistory}>
        Clear the history
      </button>
    </details>
  )
}

function Results({ rows, ms, error, isOff, isRunning }: Outcome & { isRunning: boolean }) {
  const [isChart, setChart] = useState(false)
  const chart = useMemo(() => (isRunning ? undefined : chartColumns(rows)), [rows, isRunning])
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
            {chart !== undefined && (
              <button type="button" aria-pressed={isChart} onClick={() => setChart(!isChart)}>
                Chart
              </button>
            )}
            <span class="export">
              Save as{' '}
              {EXPORT_FORMATS.map((format) => (
                <button key={format} type="button" onClick={() => download('query', formatRows(rows, format), format)}>
                  {format.toUpperCase()}
                </button>
              ))}
            </span>
          </div>
          {isChart && chart !== undefined && <ResultChart key={columns.join()} rows={rows} columns={chart} />}
          <Table
            caption="Rows of the query"
            columns={columns.map((name) => (typeof rows[0][name] === 'number' ? { name, isNumber: true } : name))}
            rows={rows.slice(0, DRAWN_ROWS).map((row) => columns.map((name) => showCell(name, row[name])))}
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

/** Returns the link of an address, a transaction or a block, by the form of the cell and the name of its column. */
function linkOf(name: string, text: string): string | undefined {
  if (/^0x[\da-f]{40}$/.test(text)) return linkTo('address', text)
  if (!/^0x[\da-f]{64}$/.test(text)) return undefined
  if (/(^|_)transaction_hash$/.test(name)) return linkTo('tx', text)
  return /(^|_)block_hash$/.test(name) ? linkTo('block', text) : undefined
}

function showCell(name: string, value: unknown) {
  if (value === null) return <span class="quiet">null</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const link = linkOf(name, text)
  if (link !== undefined) {
    return (
      <a href={link}>
        <code>{text}</code>
      </a>
    )
  }
  return text.startsWith('0x') ? <code title={text}>{text.length > 66 ? `${text.slice(0, 66)}…` : text}</code> : text
}
