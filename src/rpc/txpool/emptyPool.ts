import type { JsonSchema } from '../core/method.js'

/** The response of a node with an empty pool: Cairn has none. */
export const EMPTY_POOL = { pending: {}, queued: {} }

/** Schema of `EMPTY_POOL`, for documentation. */
export const POOL_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['pending', 'queued'],
  properties: { pending: { type: 'object' }, queued: { type: 'object' } },
}
