import { formatQuantity } from '../../../src/lib/hex.js'
import { AMSTERDAM } from './fixtureChain.js'

/* A call whose struct logs are long: each of its steps has 200 words on the stack. */

// Before Amsterdam, which has another price for a transaction.
const BLOCK = formatQuantity(AMSTERDAM - 1)
const TARGET = '0x00000000000000000000000000000000deadbeef'

// Fills the stack with ones, then jumps to itself until the gas ends.
const CODE = `0x5f19${'80'.repeat(200)}5b60ca56`

/** Parameters of `debug_traceCall` whose answer has about 3.4 MB for each 1,000 gas. */
export function longTrace(gas: number): unknown[] {
  const request = { to: TARGET, gas: `0x${(22_000 + gas).toString(16)}` }
  return [request, BLOCK, { stateOverrides: { [TARGET]: { code: CODE } } }]
}

/** The beginning of the answer and its end. */
export const LONG_TRACE = {
  beginning: /^\{"jsonrpc":"2\.0","id":1,"result":\{"gas":\d+,"failed":true,/,
  end: /\]\}\}$/,
}
