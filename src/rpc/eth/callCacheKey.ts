import { createHash } from 'node:crypto'
import { HEADER_NOT_FOUND, isStateNotHeld, requireStateBlock } from '../core/blockId.js'
import { timeoutError } from '../core/dispatch.js'
import { EXECUTION_REVERTED, SERVER_ERROR } from '../core/errors.js'
import type { Caching } from '../core/method.js'
import type { BlockId } from '../core/params.js'
import { CALL_MEMBERS, type CallObject } from './callObject.js'
import { overridesNothing } from './stateOverrides.js'

/** Longer texts are hashed: as a part of a key, they would be held as long as the outcome. */
const MAX_TEXT = 200

/** Outcomes of calls that may be given again: results, and failures that every run on top of that block has, reverts above
 *  all. The block's hash stands for all that a call can read. */
export const CALL_CACHING: Caching<readonly [CallObject, BlockId, undefined]> = {
  resolveBlocks: ({ chain }, call) => {
    const number = requireStateBlock(chain, call.arg(1))
    const hash = number === chain.head() ? chain.headHash() : chain.blockHash(number)
    return hash && { fromBlock: number, toBlock: number, hash }
  },
  // From the undecoded call: a cached outcome costs less than to decode it would.
  key: ({ values: [call, , overrides] }) => {
    if (typeof call !== 'object' || Array.isArray(call) || !overridesNothing(overrides)) return undefined
    return shorten(describeCall(call as object))
  },
  keepsError: ({ code, message }, { limits }) => {
    if (code === EXECUTION_REVERTED) return true
    if (code !== SERVER_ERROR || message === timeoutError('evm', limits.callTimeoutMs).message) return false
    return message !== HEADER_NOT_FOUND.message && !isStateNotHeld(message)
  },
}

// 32 KB: what is decoded beside the execution takes less than 0.1 ms then.
const MAX_INLINE_TEXT = 65_536

const SELECTOR_TEXT = 10 // 0x and four bytes

/** How long a call takes depends most on the contract, the function, and how much it is given. Creations and what has lists,
 *  of which each member may be a read or a signature, are to run in a thread. */
export function callCostKey([call]: readonly unknown[]): string | undefined {
  if (typeof call !== 'object' || call === null) return undefined
  const { to, input, data, accessList, authorizationList } = call as { [name: string]: unknown }
  const text = input ?? data ?? ''
  if (typeof to !== 'string' || typeof text !== 'string' || text.length > MAX_INLINE_TEXT || to.length > 42)
    return undefined
  if (accessList || authorizationList) return undefined
  return to + text.slice(0, SELECTOR_TEXT) + Math.clz32(text.length)
}

/** The members of a call object in a fixed order, their hex digits in lower case, each text with its length before it so that
 *  what follows cannot be taken for a part of it. Members that no call has are left out, as they are not looked at. */
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
  return text.length <= MAX_TEXT ? text : createHash('sha256').update(text).digest('base64')
}
