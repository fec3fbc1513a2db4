import { useMemo, useState } from 'preact/hooks'
import { CallFailed, call } from '../client/rpc.js'
import { endpoint } from '../client/session.js'
import { useRequest } from '../client/useRequest.js'
import { formatBytes, formatMs } from '../format.js'
import { linkTo, type Route } from '../routing.js'
import { Section, ViewTitle } from '../ui/Layout.js'
import { Prose } from '../ui/Prose.js'
import { Empty, Failure, Loaded } from '../ui/States.js'
import { CopyButton } from '../ui/Value.js'
import { type ParamDoc, ParamField, parseParam } from './ParamField.js'

interface MethodDoc {
  name: string
  summary: string
  description?: string
  params: ParamDoc[]
  examples?: { name: string; description?: string; params: { name: string; value: unknown }[] }[]
}

/** A form for every method of the server, built from `rpc_discover`. */
export function ConsoleView({ route }: { route: Route }) {
  const request = useRequest(() => call<{ methods: MethodDoc[] }>('rpc_discover'), [])
  return (
    <>
      <ViewTitle item={route.item}>Console</ViewTitle>
      <Loaded request={request} what="the methods">
        {({ methods }) => {
          const method = methods.find(({ name }) => name === route.item)
          return (
            <div class="console">
              <MethodList methods={methods} current={route.item} />
              {method === undefined ? (
                <Empty title="Choose a method">
                  {methods.length} methods are served. Each has a form, and most an example.
                </Empty>
              ) : (
                <MethodForm key={method.name} method={method} />
              )}
            </div>
          )
        }}
      </Loaded>
    </>
  )
}

function MethodList({ methods, current }: { methods: readonly MethodDoc[]; current: string }) {
  const [text, setText] = useState('')
  const found = methods.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  const groups = new Map<string, MethodDoc[]>()
  for (const method of found) {
    const group = method.name.split('_')[0]
    groups.set(group, [...(groups.get(group) ?? []), method])
  }
  return (
    <nav class="methods" aria-label="Methods">
      <input
        type="search"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        placeholder="Find a method"
        aria-label="Find a method"
      />
      <div class="method-groups">
        {found.length === 0 && <p class="quiet">No method has this name.</p>}
        {[...groups].map(([group, members]) => (
          <details
            key={group}
            open={text !== '' || current.startsWith(`${group}_`) || group === 'cairn' || group === 'eth'}
          >
            <summary>
              {group} <span class="quiet">{members.length}</span>
            </summary>
            <ul>
              {members.map(({ name }) => (
                <li key={name}>
                  <a href={linkTo('console', name)} aria-current={name === current ? 'page' : undefined}>
                    {name.slice(group.length + 1) || name}
                  </a>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </div>
    </nav>
  )
}

interface Answer {
  result?: unknown
  error?: CallFailed
  ms: number
}

function MethodForm({ method }: { method: MethodDoc }) {
  const example = method.examples?.[0]
  const [texts, setTexts] = useState<readonly string[]>(() => exampleTexts(method))
  const [raw, setRaw] = useState<string | undefined>()
  const [answer, setAnswer] = useState<Answer | undefined>()
  const [isRunning, setRunning] = useState(false)
  const params = useMemo(() => readParams(method, texts, raw), [method, texts, raw])
  const send = async (event: Event) => {
    event.preventDefault()
    if (typeof params === 'string') return
    setRunning(true)
    const begun = performance.now()
    const outcome = await call(method.name, params).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: error instanceof CallFailed ? error : new CallFailed('call', String(error)) }),
    )
    setAnswer({ ...outcome, ms: performance.now() - begun })
    setRunning(false)
  }
  return (
    <div class="method">
      <MethodIntroduction method={method} />
      <form class="card" onSubmit={(event) => void send(event)}>
        {raw === undefined ? (
          method.params.map((param, i) => (
            <ParamField
              key={param.name}
              param={param}
              text={texts[i] ?? ''}
              onChange={(text) => setTexts((old) => method.params.map((_, at) => (at === i ? text : (old[at] ?? ''))))}
            />
          ))
        ) : (
          <RawParams text={raw} onChange={setRaw} />
        )}
        {method.params.length === 0 && raw === undefined && <p class="quiet">It takes no parameters.</p>}
        {typeof params === 'string' && (
          <p class="bad-text" role="alert">
            {params}
          </p>
        )}
        {example?.description !== undefined && (
          <p class="quiet">The example was recorded {example.description.replace(/^A/, 'a')}.</p>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={typeof params === 'string' || isRunning}>
            {isRunning ? 'Sending …' : 'Send'}
          </button>
          <button type="button" onClick={() => setRaw(raw === undefined ? JSON.stringify(params, null, 2) : undefined)}>
            {raw === undefined ? 'Edit as JSON' : 'Back to the form'}
          </button>
          {example !== undefined && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                setRaw(undefined)
                setTexts(exampleTexts(method))
              }}
            >
              Example
            </button>
          )}
        </div>
        {typeof params !== 'string' && <CurlLine method={method.name} params={params} />}
      </form>
      {answer !== undefined && <AnswerView answer={answer} />}
    </div>
  )
}

function MethodIntroduction({ method }: { method: MethodDoc }) {
  return (
    <>
      <h2>
        <code>{method.name}</code>
      </h2>
      <p>
        <Prose markdown={method.summary} />
      </p>
      {method.description !== undefined && (
        <details>
          <summary>More</summary>
          <p>
            <Prose markdown={method.description} />
          </p>
        </details>
      )}
    </>
  )
}

function RawParams({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <div class="field">
      <label for="raw-params">Parameters as JSON</label>
      <textarea
        id="raw-params"
        rows={8}
        value={text}
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  )
}

/** Returns the values of the recorded example as shown in the fields. */
function exampleTexts({ params, examples }: MethodDoc): string[] {
  const values = new Map(examples?.[0]?.params.map(({ name, value }) => [name, value]))
  return params.map(({ name }) => {
    const value = values.get(name)
    return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  })
}

/** Returns the parameters to send, or an error message as text. */
function readParams(method: MethodDoc, texts: readonly string[], raw: string | undefined): unknown[] | object | string {
  try {
    if (raw !== undefined) {
      const params: unknown = JSON.parse(raw)
      return typeof params === 'object' && params !== null ? params : 'parameters are an array or an object'
    }
    const values = method.params.map((param, i) => parseParam(param, texts[i] ?? ''))
    // The layer-2 method of the specification accepts parameters only by name.
    if (method.name.startsWith('zk_')) {
      return Object.fromEntries(
        method.params.flatMap(({ name }, i) => (values[i] === undefined ? [] : [[name, values[i]]])),
      )
    }
    while (values.length > 0 && values.at(-1) === undefined) values.pop()
    return values.map((value) => value ?? null)
  } catch (error) {
    return (error as Error).message
  }
}

/** The call as a shell command. The key is a variable: shells keep a history. */
function CurlLine({ method, params }: { method: string; params: unknown }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }).replaceAll("'", "'\\''")
  const line = `curl -s ${endpoint('v3')}/$KEY -H 'Content-Type: application/json' -d '${body}'`
  return (
    <div class="raw curl">
      <CopyButton text={line} what="curl command" />
      <pre>{line}</pre>
    </div>
  )
}

/** Longer responses are truncated on the screen; copies are complete. */
const SHOWN_CHARACTERS = 200_000

function AnswerView({ answer: { result, error, ms } }: { answer: Answer }) {
  if (error !== undefined) {
    return (
      <Section title="Error" note={formatMs(ms)}>
        <Failure error={error} />
        {error.data !== undefined && <pre class="json">{JSON.stringify(error.data, null, 2)}</pre>}
      </Section>
    )
  }
  const text = JSON.stringify(result, null, 2) ?? 'null'
  return (
    <Section
      title="Result"
      note={<span role="status">{`${formatMs(ms)}, ${formatBytes(JSON.stringify(result)?.length ?? 0)}`}</span>}
    >
      <div class="raw">
        <CopyButton text={text} what="result" />
        <pre class="json">{text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}\n…` : text}</pre>
      </div>
    </Section>
  )
}
