import express, { type Express } from 'express'
import { messageOf } from '../../lib/errors.js'
import type { HealthReport } from './healthReport.js'
import type { MetricsPage } from './metricsPage.js'

/** Data source of `/health` and `/ready`. */
export interface HealthSource {
  /** @throws when the database cannot be read */
  report(): HealthReport
  /** Why the database cannot be read; undefined when it is readable. */
  problem(): string | undefined
  /** Why the chain is too far behind; undefined when it is not. */
  lag(): string | undefined
}

/** Endpoints of a port besides calls. */
export interface AdminOptions {
  readonly health: HealthSource
  /** Undefined when `/metrics` is not served. */
  readonly metricsPage: MetricsPage | undefined
  /** Error message for all other paths. */
  readonly notFound: string
}

/** The HTTP endpoints that need no key: `/health` (200 with the report, 503 with the problem while the database cannot
 *  be read; `status` is `stuck` while the chain does not grow), `/ready` (200 or 503, with the same problem),
 *  `/metrics` if enabled, and a JSON 404 for all other paths. */
export function createAdminApp({ health, metricsPage, notFound }: AdminOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  app.get('/health', (_request, response) => {
    const { facts, error } = readHealth(health)
    if (error !== undefined || facts === undefined) {
      return void response.status(503).json({ status: 'unreadable', error, ...facts })
    }
    const { serving, ...rest } = facts
    response.json({ status: !serving ? 'stopping' : rest.problem ? 'stuck' : 'ok', ...rest })
  })
  app.get('/ready', (_request, response) => {
    const { facts, error } = readHealth(health)
    const ready = error === undefined && facts?.ready === true
    const { problem = null } = facts ?? {}
    response.status(ready ? 200 : 503).json({ ready, error: error ?? health.lag(), problem })
  })
  if (metricsPage !== undefined) {
    app.get('/metrics', async (_request, response) => {
      response.setHeader('Content-Type', metricsPage.contentType)
      response.end(await metricsPage.render())
    })
  }
  app.use((_request, response) => {
    response.status(404).json({ error: notFound })
  })
  return app
}

/** The report, or the reason why the database cannot be read. */
function readHealth({ report, problem }: HealthSource): { facts?: HealthReport; error?: string } {
  const error = problem()
  try {
    return { facts: report(), error }
  } catch (thrown) {
    return { error: error ?? messageOf(thrown) }
  }
}
