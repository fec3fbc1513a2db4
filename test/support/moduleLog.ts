import { appendFileSync } from 'node:fs'
import Module, { register } from 'node:module'
import { threadId } from 'node:worker_threads'

/* Loaded with `node --import` before a program: appends a line to the file of TEST_MODULE_LOG for each module that is
 * loaded, in every thread. */

const path = process.env.TEST_MODULE_LOG!
register('./moduleLogHooks.js', { parentURL: import.meta.url, data: { path, threadId } })

type Load = (request: string, ...rest: unknown[]) => unknown
const commonJs = Module as unknown as { _load: Load; _cache: Record<string, unknown> }
const load = commonJs._load
commonJs._load = (request, ...rest) => {
  const known = Object.keys(commonJs._cache).length
  const loaded = load.call(commonJs, request, ...rest)
  if (Object.keys(commonJs._cache).length > known) appendFileSync(path, `thread ${threadId} required ${request}\n`)
  return loaded
}
