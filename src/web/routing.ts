import { createStore } from './client/store.js'

/** A route of the page, in the URL fragment: `#/block/12?tab=logs`. It is never sent to the server. */
export interface Route {
  /** The first part: `block`; empty for the overview. */
  readonly view: string
  /** The second part: `12`. */
  readonly item: string
  readonly query: URLSearchParams
}

/** The current route. */
export const route = createStore<Route>(parseRoute(''))

/** Parses a fragment, with or without its `#`. */
function parseRoute(fragment: string): Route {
  const [path, query = ''] = fragment.replace(/^#?\/?/, '').split('?')
  const [view = '', item = ''] = path.split('/').map(decode)
  return { view, item, query: new URLSearchParams(query) }
}

/** Returns the link to a route. */
export function linkTo(view: string, item: string | number = '', query: Readonly<Record<string, string>> = {}): string {
  const path = item === '' ? view : `${view}/${encodeURIComponent(item)}`
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return `#/${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`
}

/** Navigates to a link. `replaces` replaces the current history entry. */
export function goTo(link: string, { replaces = false } = {}): void {
  if (replaces) location.replace(link)
  else location.hash = link
}

/** Follows changes of the URL from now on. */
export function followAddress(): void {
  const read = () => route.set(parseRoute(location.hash))
  addEventListener('hashchange', read)
  read()
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
