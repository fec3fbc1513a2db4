import { createStore } from './client/store.js'

/** A place of the page, in the address's fragment: `#/block/12?tab=logs`. Nothing of it is sent to the server. */
export interface Route {
  /** The first part: `block`; empty for the overview. */
  readonly view: string
  /** The second part: `12`. */
  readonly item: string
  readonly query: URLSearchParams
}

/** The place that is shown. */
export const route = createStore<Route>(parseRoute(''))

/** Parses a fragment, with or without its `#`. */
export function parseRoute(fragment: string): Route {
  const [path, query = ''] = fragment.replace(/^#?\/?/, '').split('?')
  const [view = '', item = ''] = path.split('/').map(decode)
  return { view, item, query: new URLSearchParams(query) }
}

/** The link to a place. */
export function linkTo(view: string, item: string | number = '', query: Readonly<Record<string, string>> = {}): string {
  const path = item === '' ? view : `${view}/${encodeURIComponent(item)}`
  const given = Object.entries(query).filter(([, value]) => value !== '')
  return `#/${path}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`
}

/** Goes to a place. `replaces` leaves none of the present one in the history. */
export function goTo(link: string, { replaces = false } = {}): void {
  if (replaces) location.replace(link)
  else location.hash = link
}

/** Follows the address from now on. */
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
