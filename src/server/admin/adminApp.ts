import express, { type Express } from 'express'
import { messageOf } from '../../lib/errors.js'
import type { HealthReport } from './healthReport.js'
import type { MetricsPage } from './metricsPage.js'

/** What `/health` and `/ready` ask. */
export interface HealthSource {
  /** @throws when the database cannot be read */
  report(): HealthReport
  /** Why the database cannot be read; undefined when it can. */
  problem(): string | undefined
}

/** What a port serves beside calls. */
export interface AdminOptions {
  readonly health: HealthSource
  /** Undefined where `/metrics` is not served. */
  readonly metricsPage: MetricsPage | undefined
  /** The error of all other paths. */
  readonly notFound: string
}

/** The HTTP surface around the calls, which needs no key: `/health` (200 with the report; 503 with the problem while the
 *  database cannot be read), `/ready` (200 or 503), `/metrics` where there is a page, and 404 as JSON for everything else. */
export function createAdminApp({ health, metricsPage, notFound }: AdminOptions): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  app.get('/health', (_request, response) => {
    const { facts, error } = look(health)
    if (error !== undefined || facts === undefined) {
      return void response.status(503).json({ status: 'unreadable', error, ...facts })
    }
    const { serving, ...rest } = facts
    response.json({ status: serving ? 'ok' : 'stopping', ...rest })
  })
  app.get('/ready', (_request, response) => {
    const { facts, error } = look(health)
    const ready = error === undefined && facts?.ready === true
    response.status(ready ? 200 : 503).json({ ready, error })
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

/** The report, and why the database cannot be read. */
function look({ report, problem }: HealthSource): { facts?: HealthReport; error?: string } {
  const error = problem()
  try {
    return { facts: report(), error }
  } catch (thrown) {
    return { error: error ?? messageOf(thrown) }
  }
}
