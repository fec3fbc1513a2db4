import { useEffect, useRef, useState } from 'preact/hooks'
import { type LogsSoFar, NO_LOGS, readLogPages } from '../client/logPages.js'
import { CallFailed, call } from '../client/rpc.js'
import { apiKey } from '../client/session.js'
import { useStore } from '../client/store.js'
import type { Explanation } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { buildFilter, EMPTY_FORM, type FilterForm, type LogFilter, WrongField } from '../logFilter.js'
import { goTo, linkTo, type Route } from '../routing.js'
import { ViewTitle } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { ExplainView } from './Explain.js'
import { FilterBuilder } from './FilterBuilder.js'
import { LogResults } from './LogResults.js'

/** Logs requested at first, and with each click on more. */
const FIRST_LOGS = 200
const MORE_LOGS = 5_000

/** The log explorer. The filter is in the URL, so that it can be bookmarked and shared. */
export function LogsView({ route }: { route: Route }) {
  const form = readForm(route.query)
  const isAsked = route.query.size > 0
  const isExplaining = route.query.get('explain') === '1'
  const filter = isAsked ? tryBuild(form) : undefined
  // Submitting the same filter again repeats the search.
  const [turn, setTurn] = useState(0)
  const show = (typed: FilterForm, explains: boolean) => {
    if (JSON.stringify(typed) === JSON.stringify(form)) setTurn(turn + 1)
    goTo(linkTo('logs', '', { ...typed, run: '1', ...(explains ? { explain: '1' } : {}) }))
  }
  const identity = JSON.stringify([filter instanceof WrongField ? filter.field : filter, turn])
  return (
    <>
      <ViewTitle item={[form.topic0, form.address].filter(Boolean).join(' ')}>Logs</ViewTitle>
      <FilterBuilder
        key={JSON.stringify(form)}
        form={form}
        problem={filter instanceof WrongField ? filter : undefined}
        onSearch={(typed) => show(typed, false)}
        onExplain={(typed) => show(typed, true)}
      />
      {filter === undefined && (
        <Empty title="Search the logs of the whole chain">
          Every field is optional. Without a range all blocks are searched; results appear while they come.
        </Empty>
      )}
      {filter !== undefined && !(filter instanceof WrongField) && (
        <>
          {isExplaining && <ExplainedFilter key={`explain${identity}`} filter={filter} />}
          <LogSearch key={identity} filter={filter} />
        </>
      )}
    </>
  )
}

function readForm(query: URLSearchParams): FilterForm {
  const names = Object.keys(EMPTY_FORM) as (keyof FilterForm)[]
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as unknown as FilterForm
}

function tryBuild(form: FilterForm): LogFilter | WrongField {
  try {
    return buildFilter(form)
  } catch (error) {
    if (error instanceof WrongField) return error
    throw error
  }
}

function ExplainedFilter({ filter }: { filter: LogFilter }) {
  const request = useRequest(() => call<Explanation>('cairn_explainLogs', [filter]), [filter])
  return (
    <Loaded request={request} what="the plan">
      {(explanation) => <ExplainView explanation={explanation} />}
    </Loaded>
  )
}

/** The results of a filter, page by page. */
export function LogSearch({ filter }: { filter: LogFilter }) {
  const [found, setFound] = useState<LogsSoFar>(NO_LOGS)
  const [isRunning, setRunning] = useState(true)
  const [problem, setProblem] = useState<CallFailed | undefined>()
  const stop = useRef<AbortController | undefined>(undefined)
  const key = useStore(apiKey)
  const run = (begun: LogsSoFar, wanted: number) => {
    stop.current?.abort()
    const own = new AbortController()
    stop.current = own
    setRunning(true)
    setProblem(undefined)
    readLogPages(filter, { begun, wanted, signal: own.signal, onPage: setFound })
      .catch((error: unknown) => {
        if (!own.signal.aborted) setProblem(error instanceof CallFailed ? error : new CallFailed('call', String(error)))
      })
      .finally(() => {
        if (stop.current === own) setRunning(false)
      })
  }
  useEffect(() => {
    setFound(NO_LOGS)
    run(NO_LOGS, FIRST_LOGS)
    return () => stop.current?.abort()
  }, [key])
  return (
    <LogResults
      found={found}
      isRunning={isRunning}
      problem={problem}
      onMore={() => run(found, found.logs.length + MORE_LOGS)}
      onStop={() => {
        stop.current?.abort()
        setRunning(false)
      }}
      onRetry={() => run(found, found.logs.length + FIRST_LOGS)}
    />
  )
}
