import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ChainProblem, chainProblem, unverifiedFrom } from './client/health.js'
import { liveBy, newestBlock } from './client/live.js'
import { isOnline } from './client/rpc.js'
import { answerOffer, apiKey, keyProblem, offeredKey, setKey } from './client/session.js'
import { useStore } from './client/store.js'
import { formatCount, formatDuration } from './format.js'
import { goTo, linkTo, type Route, route } from './routing.js'
import { Icon, Mark } from './ui/Icon.js'
import { useCurrentInView, ViewTitle } from './ui/Layout.js'
import { Empty } from './ui/States.js'
import { THEMES, theme } from './ui/theme.js'
import { AddressView } from './views/AddressView.js'
import { BlockView } from './views/BlockView.js'
import { ConsoleView } from './views/ConsoleView.js'
import { Layer2View } from './views/Layer2View.js'
import { LogsView } from './views/LogsView.js'
import { OverviewView } from './views/OverviewView.js'
import { SearchView } from './views/SearchView.js'
import { SqlView } from './views/SqlView.js'
import { TokenView } from './views/TokenView.js'
import { TransactionView } from './views/TransactionView.js'

/* A map: an address may name `constructor`, which every object has. */
const VIEWS: ReadonlyMap<string, ComponentType<{ route: Route }>> = new Map([
  ['', OverviewView],
  ['search', SearchView],
  ['block', BlockView],
  ['tx', TransactionView],
  ['address', AddressView],
  ['token', TokenView],
  ['logs', LogsView],
  ['console', ConsoleView],
  ['l2', Layer2View],
  ['sql', SqlView],
])

const NAVIGATION = [
  ['', 'Overview'],
  ['logs', 'Logs'],
  ['l2', 'Layer 2'],
  ['console', 'Console'],
  ['sql', 'SQL'],
] as const

/** The page. */
export function App() {
  const current = useStore(route)
  const View = VIEWS.get(current.view)
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header current={current} />
      <Notices />
      <main id="main" tabIndex={-1}>
        {View === undefined ? <NotFound /> : <View key={`${current.view}/${current.item}`} route={current} />}
      </main>
      <Footer />
    </>
  )
}

function Header({ current }: { current: Route }) {
  return (
    <header class="header">
      <a class="brand" href={linkTo('')} aria-label="Cairn, overview">
        <Mark />
        <span>Cairn</span>
      </a>
      <SearchBox />
      <nav class="navigation" aria-label="Main" ref={useCurrentInView(current.view)}>
        {NAVIGATION.map(([view, text]) => (
          <a key={view} href={linkTo(view)} aria-current={current.view === view ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <ThemeButton />
    </header>
  )
}

function SearchBox() {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      field.current?.select()
      field.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  const search = (event: Event) => {
    event.preventDefault()
    const wanted = text.trim()
    if (wanted !== '') goTo(linkTo('search', '', { q: wanted }))
    setText('')
  }
  return (
    <search>
      <form class="search" onSubmit={search}>
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          placeholder="Block, transaction, address, name"
          aria-label="Search for a block, a transaction, an address or a name"
          aria-keyshortcuts="/"
          autocomplete="off"
          spellcheck={false}
        />
        <span class="key">/</span>
      </form>
    </search>
  )
}

function ThemeButton() {
  const current = useStore(theme)
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length]
  const icon = current === 'auto' ? 'auto' : current === 'light' ? 'sun' : 'moon'
  return (
    <button
      type="button"
      class="plain theme"
      onClick={() => theme.set(next)}
      aria-label={`Theme: ${current}. Switch to ${next}`}
      title={`Theme: ${current}`}
    >
      <Icon name={icon} />
    </button>
  )
}

/** Notices that the server is offline or requires a key. */
function Notices() {
  const online = useStore(isOnline)
  const problem = useStore(keyProblem)
  const offered = useStore(offeredKey)
  const stopped = useStore(chainProblem)
  const firstUnverified = useStore(unverifiedFrom)
  return (
    <div aria-live="polite">
      {offered !== '' && <KeyOffer />}
      {online && stopped !== undefined && <StoppedNotice problem={stopped} />}
      {online && firstUnverified !== null && (
        <p class="notice">
          The development node's state root of block {formatCount(firstUnverified)} is wrong. From there on the state is
          not verified; everything else is.
        </p>
      )}
      {!online && (
        <p class="notice" role="alert">
          The server does not answer. The page tries again every few seconds.
        </p>
      )}
      {problem !== undefined && <KeyForm problem={problem} />}
    </div>
  )
}

/** A link may contain the key of another user, who would see the usage of this tab. */
function KeyOffer() {
  return (
    <div class="notice" role="alert">
      <p>
        <strong>The link has another API key than this tab.</strong> Use it only if you trust where the link comes from:
        the holder of a key sees how much it is used.
      </p>
      <div class="inline-form">
        <button type="button" class="primary" onClick={() => answerOffer(false)}>
          Keep my key
        </button>
        <button type="button" onClick={() => answerOffer(true)}>
          Use the key of the link
        </button>
      </div>
    </div>
  )
}

/** Explains why the blocks below are not the newest ones. */
function StoppedNotice({ problem: { source, state, block, check, reason, seconds } }: { problem: ChainProblem }) {
  return (
    <p class="notice" role="alert">
      <strong>
        The chain does not grow: {source} is {state}
        {block !== null && ` at block ${formatCount(block)}`}, {check}
        {seconds !== undefined && seconds >= 60 && `, for ${formatDuration(seconds)}`}.
      </strong>{' '}
      <span class="quiet">{reason}</span>
    </p>
  )
}

function KeyForm({ problem }: { problem: string }) {
  const [key, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const isWrong = useStore(apiKey) !== ''
  const submit = (event: Event) => {
    event.preventDefault()
    if (key.trim() !== '') setKey(key.trim())
  }
  return (
    <form class="notice key-form" onSubmit={submit}>
      <label for="api-key">
        <strong>{isWrong ? 'The server does not know this API key' : 'This server asks for an API key'}</strong>
        <span class="quiet"> ({problem})</span>
      </label>
      <div class="inline-form">
        <input
          id="api-key"
          ref={field}
          type="password"
          value={key}
          onInput={(event) => setText(event.currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="api-key-note"
        />
        <button type="submit" class="primary">
          Use key
        </button>
      </div>
      <p id="api-key-note" class="quiet">
        It is kept for this tab only. <code>cairn keys create NAME</code> makes one.
      </p>
    </form>
  )
}

function Footer() {
  const head = useStore(newestBlock)
  const by = useStore(liveBy)
  const online = useStore(isOnline)
  const key = useStore(apiKey)
  const problem = useStore(keyProblem)
  return (
    <footer class="footer">
      <span>
        <span class={online ? 'dot' : 'dot off'} aria-hidden="true" />
        {!online ? 'offline' : problem !== undefined ? 'no key' : by === 'socket' ? 'live' : 'polling'}
        {head !== undefined && ` · block ${formatCount(head)}`}
      </span>
      {key !== '' && (
        <button type="button" class="link" onClick={() => setKey('')}>
          Forget the API key
        </button>
      )}
    </footer>
  )
}

function NotFound() {
  return (
    <>
      <ViewTitle>Not found</ViewTitle>
      <Empty title="There is no such place on this page">
        Use the search above, or go to the <a href={linkTo('')}>overview</a>.
      </Empty>
    </>
  )
}
