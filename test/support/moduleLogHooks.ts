import { appendFileSync } from 'node:fs'
import type { InitializeHook, LoadHook } from 'node:module'

/* Hooks of `moduleLog`, in a thread of their own. */

let log: { path: string; threadId: number }

export const initialize: InitializeHook<typeof log> = (data) => {
  log = data
}

export const load: LoadHook = (url, context, nextLoad) => {
  appendFileSync(log.path, `thread ${log.threadId} imported ${url}\n`)
  return nextLoad(url, context)
}
