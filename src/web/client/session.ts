import { createStore } from './store.js'

/* The API key, and where calls go. The key is kept for this tab only. It comes in by the address's fragment, which browsers
 * do not send, or by the form; over HTTP it leaves in a header, so that no logged URL has it. */

const STORED_KEY = 'cairn-key'

/** The key of this tab; empty where there is none. */
export const apiKey = createStore(readStored())

/** Why a key is asked for; undefined while calls are accepted. */
export const keyProblem = createStore<string | undefined>(undefined)

/** Uses another key, and keeps it for this tab. An empty one forgets it. */
export function setKey(key: string): void {
  try {
    if (key === '') sessionStorage.removeItem(STORED_KEY)
    else sessionStorage.setItem(STORED_KEY, key)
  } catch {
    // A browser without storage: the key lasts until the page is reloaded.
  }
  apiKey.set(key)
  keyProblem.set(undefined)
}

/** The key of a link while this tab has another one; empty where nothing is to be decided. */
export const offeredKey = createStore('')

/** Uses the offered key, or forgets it. */
export function answerOffer(isAccepted: boolean): void {
  const offered = offeredKey.get()
  offeredKey.set('')
  if (isAccepted) setKey(offered)
}

/** Takes the key out of `#key=…`, so that neither the address bar nor the history shows it. Where this tab has another key, the user
 *  decides: a link of somebody else must not replace it. */
export function takeKeyFromAddress(): void {
  if (!location.hash.startsWith('#key=')) return
  const key = new URLSearchParams(location.hash.slice(1)).get('key')!.trim()
  const own = apiKey.get()
  if (own === '' || keyProblem.get() !== undefined) setKey(key)
  else if (key !== own && key !== '') offeredKey.set(key)
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
}

/** The address of an endpoint of this server, beside the page: `v3` or `sql`. */
export function endpoint(name: string): string {
  return new URL(name, document.baseURI.replace(/#.*$/, '')).href
}

/** Where WebSockets open. Browsers send no header with a handshake, so the key is in the path. */
export function socketEndpoint(): string {
  return `${endpoint('ws/v3')}/${encodeURIComponent(apiKey.get())}`.replace(/^http/, 'ws').replace(/\/$/, '')
}

/** The headers that name the key. */
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
