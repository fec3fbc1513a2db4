import { INVALID_PARAMS, LIMIT_EXCEEDED, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'

/* Errors of log queries and filters, for documentation. */

export const TOO_MANY_RESULTS: ErrorDoc = { code: LIMIT_EXCEEDED, message: 'query returned more than 10000 results' }
export const QUERY_TIMED_OUT: ErrorDoc = { code: LIMIT_EXCEEDED, message: 'query timeout exceeded' }
const TOO_MANY_VALUES: ErrorDoc = {
  code: INVALID_PARAMS,
  message: 'query contains N parameters, the limit is 5000',
}
export const REVERSED_RANGE: ErrorDoc = { code: INVALID_PARAMS, message: 'invalid block range params' }
export const RANGE_BEYOND_HEAD: ErrorDoc = {
  code: INVALID_PARAMS,
  message: 'block range extends beyond current head block',
}
export const UNKNOWN_BLOCK: ErrorDoc = { code: SERVER_ERROR, message: 'unknown block' }
/** A range that ends with the safe or finalized block. */
export const NO_FINALITY: ErrorDoc = { ...UNKNOWN_BLOCK, when: 'no block is safe or finalized yet' }
export const LOGS_UNAVAILABLE: ErrorDoc = {
  code: SERVER_ERROR,
  message: 'logs before block N are not available, the first block is N',
}

/** For a filter with a block hash and a bound. */
export const TWO_RANGES: ErrorDoc = {
  code: INVALID_PARAMS,
  message: 'invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
}

/** Errors of a filter object that is malformed. */
export const FILTER_ERRORS: readonly ErrorDoc[] = [
  TOO_MANY_VALUES,
  { code: INVALID_PARAMS, message: 'exceed max topics' },
  TWO_RANGES,
  REVERSED_RANGE,
]
