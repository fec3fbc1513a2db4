import { createStore } from './store.js'

/* The queries that were run in this browser. They are kept in its storage and sent nowhere. */

const STORED_HISTORY = 'cairn-sql-history'

/** Queries kept, and their length: the storage of a page is small. */
const MAX_QUERIES = 50
const MAX_CHARACTERS = 10_000

/** The queries, the newest first, each once. */
export const sqlHistory = createStore<readonly string[]>(readStored())

/** Puts a query in front. */
export function rememberQuery(query: string): void {
  if (query.trim() === '' || query.length > MAX_CHARACTERS) return
  keep([query, ...sqlHistory.get().filter((each) => each !== query)].slice(0, MAX_QUERIES))
}

/** Removes all queries. */
export function clearHistory(): void {
  keep([])
}

function keep(queries: readonly string[]): void {
  sqlHistory.set(queries)
  try {
    localStorage.setItem(STORED_HISTORY, JSON.stringify(queries))
  } catch {
    // Without storage the history lasts until the page is reloaded.
  }
}

function readStored(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_HISTORY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string').slice(0, MAX_QUERIES) : []
  } catch {
    return []
  }
}
