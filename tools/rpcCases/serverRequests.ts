import { REVERTER, TOKEN } from '../../test/support/chains/fixtureChain.js'

/* Requests and options of the servers with low limits. */

export const NAME = { to: TOKEN, data: '0x06fdde03' }
export const SPIN = { to: REVERTER, data: '0xf0acd7d5', gas: '0x11e1a300' }
/** Stores at 8 MiB, which costs 135 million gas. */
export const MEMORY = { data: '0x6001628000005200', gas: '0x11e1a300' }
export const STACK_UNDERFLOW = { data: '0x01' }
/** Before Osaka, so that an estimate may use more than 16,777,216 gas. */
export const MERGE = '0x1e'
// Servers with low limits; few, since each takes half a second to start.
export const FEW = '--max-filters 1 --max-subscriptions 1 --max-filter-params 2'
export const SHORT = '--call-timeout 50 --trace-timeout 1 --logs-timeout 1 --max-logs 20000'
export const SMALL = '--call-memory 1 --max-return-data 32'
