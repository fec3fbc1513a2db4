import express, { type Express } from 'express'
import { messageOf } from '../lib/errors.js'
import type { ResponseCacheReport } from '../rpc/core/responseCache.js'
import type { InlineReport } from '../rpc/inline/inlineCalls.js'

/** What `/health` says. */
export interface HealthReport {
  /** True until the server stops. */
  readonly serving: boolean
  /** True when calls and log queries are answered as fast as they will be: all threads are warm. */
  readonly ready: boolean
  readonly version: string
  readonly schemaVersion: number
  readonly chainId: string | null
  readonly head: { number: number; hash: string } | null
  readonly coverage: { first: number; head: number; stateFirst: number | null } | null
  readonly l2Head: { number: number; hash: string } | null
  /** Reader threads that live, the spare among them; those of them that are warm; and those that were ended or ended by
   *  themselves since the start. */
  readonly threads: { living: number; warm: number; lost: number }
  /** Since the start; null without a cache. */
  readonly responseCache: ResponseCacheReport | null
  /** Since the start; null where no calls are run by the main thread, or none yet. */
  readonly inlineCalls: InlineReport | null
}

/** What `/health` and `/ready` ask. */
export interface HealthSource {
  /** @throws when the database cannot be read */
  report(): HealthReport
  /** Why the database cannot be read; undefined when it can. */
  problem(): string | undefined
}

/** The HTTP surface around the calls: `/health` (200 with the report; 503 with the problem while the database cannot be read),
 *  `/ready` (200 or 503), and 404 as JSON for everything else. */
export function createHealthApp(source: HealthSource): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  app.get('/health', (_request, response) => {
    const { facts, error } = look(source)
    if (error !== undefined || facts === undefined) {
      return void response.status(503).json({ status: 'unreadable', error, ...facts })
    }
    const { serving, ...rest } = facts
    response.json({ status: serving ? 'ok' : 'stopping', ...rest })
  })
  app.get('/ready', (_request, response) => {
    const { facts, error } = look(source)
    const ready = error === undefined && facts?.ready === true
    response.status(ready ? 200 : 503).json({ ready, error })
  })
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found; calls go to POST /v3/<API_KEY>' })
  })
  return app
}

/** The report, and why the database cannot be read. */
function look({ report, problem }: HealthSource): { facts?: HealthReport; error?: string } {
  const error = problem()
  try {
    return { facts: report(), error }
  } catch (thrown) {
    return { error: error ?? messageOf(thrown) }
  }
}
