import { hash } from 'node:crypto'
import type { AccountOverride, BlockOverrides } from '../../evm/calls/overrides.js'
import { canonicalHash, HEADER_NOT_FOUND, isStateUnavailable, requireStateBlock } from '../core/blockId.js'
import { EXECUTION_REVERTED, SERVER_ERROR } from '../core/errors.js'
import type { Caching } from '../core/method.js'
import type { BlockId } from '../core/params.js'
import { callTimeoutError } from '../core/runCall.js'
import { isShort } from '../core/shortValue.js'
import { CALL_MEMBERS, type CallObject } from './callObject.js'
import { overridesNothing } from './stateOverrides.js'

/** Longer texts are hashed, because keys live as long as their outcomes. */
const MAX_TEXT = 200

/** Caches results, and errors that every run on that block returns, above all reverts. The block hash covers everything
 *  that a call can read. */
export const CALL_CACHING: Caching<
  readonly [CallObject, BlockId, AccountOverride[] | undefined, BlockOverrides | undefined]
> = {
  resolveBlocks: ({ chain }, call) => {
    const number = requireStateBlock(chain, call.arg(1))
    const hash = canonicalHash(chain, number)
    return hash && { fromBlock: number, toBlock: number, hash }
  },
  // From the undecoded call: a cache hit costs less than decoding it.
  key: ({ values: [call, , accounts, block] }) => {
    if (typeof call !== 'object' || Array.isArray(call)) return undefined
    if (!overridesNothing(accounts) || !overridesNothing(block)) return undefined
    return shorten(describeCall(call as object))
  },
  keepsError: ({ code, message }, { limits }) => {
    if (code === EXECUTION_REVERTED) return true
    if (code !== SERVER_ERROR || message === callTimeoutError(limits.callTimeoutMs).message) return false
    return message !== HEADER_NOT_FOUND.message && !isStateUnavailable(message)
  },
}

// 32 KB of calldata: everything besides the execution then takes less than 0.1 ms.
const MAX_INLINE_TEXT = 65_536

// Characters of overrides: of a dozen slots. Decoding them is not within the budget of time.
const MAX_INLINE_OVERRIDES = 2_000

const SELECTOR_TEXT = 10 // 0x and four bytes

/** A call's duration depends mostly on contract, function and calldata size, and on whether there are overrides.
 *  Creations, calls with long overrides, and those with lists whose members may be reads or signatures run in a
 *  thread. */
export function callCostKey([call, , accounts, block]: readonly unknown[]): string | undefined {
  if (typeof call !== 'object' || call === null) return undefined
  const isPlain = overridesNothing(accounts) && overridesNothing(block)
  if (!isPlain && !isShort([accounts, block], MAX_INLINE_OVERRIDES)) return undefined
  const { to, input, data, accessList, authorizationList } = call as { [name: string]: unknown }
  const text = input ?? data ?? ''
  if (typeof to !== 'string' || typeof text !== 'string' || text.length > MAX_INLINE_TEXT || to.length > 42)
    return undefined
  if (accessList || authorizationList) return undefined
  return to + text.slice(0, SELECTOR_TEXT) + Math.clz32(text.length) + (isPlain ? '' : ' overridden')
}

/** The known members of a call object in a fixed order, hex in lower case, each text prefixed by its length so that the
 *  encoding is unambiguous. */
function describeCall(call: object): string {
  let text = ''
  for (const name of CALL_MEMBERS) {
    const value = (call as { [name: string]: unknown })[name]
    if (value === undefined || value === null) continue
    if (typeof value === 'string') text += `${name}=${value.length}:${value.toLowerCase()}`
    else text += `${name}:${JSON.stringify(value)}`
  }
  return text
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : hash('sha256', text, 'base64')
}
