import { createStore } from './store.js'

/* The API key and the endpoints. The key is kept for this tab only. It is read from the URL fragment, which browsers do
 * not send, or from the form. HTTP requests send it in a header, so that no logged URL contains it. */

const STORED_KEY = 'cairn-key'

/** The key of this tab; empty if missing. */
export const apiKey = createStore(readStored())

/** Why a key is requested; undefined while calls are accepted. */
export const keyProblem = createStore<string | undefined>(undefined)

/** Uses another key and keeps it for this tab. An empty one clears it. */
export function setKey(key: string): void {
  try {
    if (key === '') sessionStorage.removeItem(STORED_KEY)
    else sessionStorage.setItem(STORED_KEY, key)
  } catch {
    // Without browser storage, the key lasts until the page is reloaded.
  }
  keyProblem.set(undefined) // first: who watches the key asks at once
  apiKey.set(key)
}

/** Notes that the server refused a key, unless this tab uses another one by now. */
export function noteRefusal(key: string, message: string): void {
  if (key === apiKey.get()) keyProblem.set(message)
}

/** The key of a link while this tab has another one; empty if there is nothing to decide. */
export const offeredKey = createStore('')

/** Uses the offered key, or discards it. */
export function answerOffer(isAccepted: boolean): void {
  const offered = offeredKey.get()
  offeredKey.set('')
  if (isAccepted) setKey(offered)
}

/** Reads and removes the key in `#key=…`, so that neither the address bar nor the history shows it. If this tab has
 *  another key, the user decides: a link from another user must not replace it. */
export function takeKeyFromAddress(): void {
  if (!location.hash.startsWith('#key=')) return
  const key = new URLSearchParams(location.hash.slice(1)).get('key')!.trim()
  const own = apiKey.get()
  if (own === '' || keyProblem.get() !== undefined) setKey(key)
  else if (key !== own && key !== '') offeredKey.set(key)
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
}

/** Returns the URL of an endpoint of this server, relative to the page: `v3` or `sql`. */
export function endpoint(name: string): string {
  return new URL(name, document.baseURI.replace(/#.*$/, '')).href
}

/** Returns the WebSocket URL. Browsers cannot send headers with the handshake, so the key is in the path. */
export function socketEndpoint(): string {
  return `${endpoint('ws/v3')}/${encodeURIComponent(apiKey.get())}`.replace(/^http/, 'ws').replace(/\/$/, '')
}

/** Returns the headers with the key. */
export function keyHeaders(): Record<string, string> {
  const key = apiKey.get()
  return key === '' ? {} : { 'X-API-Key': key }
}

function readStored(): string {
  try {
    return sessionStorage.getItem(STORED_KEY) ?? ''
  } catch {
    return ''
  }
}
