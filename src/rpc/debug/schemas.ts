import type { JsonSchema } from '../core/method.js'

/** The result of a tracer: an object, or a list for flatCallTracer. */
export const TRACE_SCHEMA: JsonSchema = { oneOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }] }
