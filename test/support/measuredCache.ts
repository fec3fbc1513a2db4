import { createMetrics } from '../../src/lib/metrics.js'
import { createResponseCache, type ResponseCache } from '../../src/rpc/core/responseCache.js'

/** What a cache reports as metrics. */
export interface CacheFigures {
  readonly maxBytes: number
  readonly bytes: number
  readonly entries: number
  readonly hits: number
  readonly misses: number
}

/** A response cache with metrics of its own. */
export function createMeasuredCache({ maxBytes }: { maxBytes: number }): ResponseCache & { report(): CacheFigures } {
  const metrics = createMetrics()
  const cache = createResponseCache({ maxBytes, metrics })
  const read = (name: string) => metrics.value(`cairn_cache_${name}`, { cache: 'responses' })!
  const report = () => ({
    maxBytes: read('limit_bytes'),
    bytes: read('bytes'),
    entries: read('entries'),
    hits: read('hits_total'),
    misses: read('misses_total'),
  })
  return { ...cache, report }
}
