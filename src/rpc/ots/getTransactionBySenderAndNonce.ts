import { addedType } from '../../chain/eth/families/addedTypes.js'
import type { Transaction } from '../../chain/eth/types.js'
import { StateUnavailable } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { STATE_UNAVAILABLE } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { hash32, indexOrDecimal, required } from '../core/params.js'
import { accountParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { NEITHER_STATE_NOR_INDEX, SEARCH_TIMED_OUT } from './addressPage.js'
import { firstBlockWhere } from './firstBlockWhere.js'

export const getTransactionBySenderAndNonce = defineMethod({
  name: 'ots_getTransactionBySenderAndNonce',
  summary: 'Hash of the transaction that an account sent with a nonce, or null.',
  description:
    'Found in the state history; in the address index where that is not stored. Deposits of the OP stack before Canyon, whose nonces ' +
    'no receipt has, are found in the state history only.',
  cost: 'scan',
  classes: ['blocks'],
  params: [accountParam, required('nonce', indexOrDecimal, 'nonce of the transaction, in hex or decimal')],
  result: { name: 'transaction hash', schema: orNull(hash32.schema) },
  errors: [STATE_UNAVAILABLE, NEITHER_STATE_NOR_INDEX, SEARCH_TIMED_OUT],
  handler: (context, address, nonce) => {
    const { chain, state } = context
    const { head, stateFirst } = chain.coverage()!
    if (stateFirst === undefined) return findInIndex(context, address, nonce)
    const number = firstBlockWhere(stateFirst, head, (at) => state.nonce(address, at) > nonce)
    if (number === undefined) return null
    if (number === stateFirst && number > 0) return findInIndex(context, address, nonce)
    const own = chain.transactions(chain.blockByNumber(number)!).filter(({ from }) => equalBytes(from, address))
    const sent =
      own.find((each) => hasNonce(each) && each.nonce === BigInt(nonce)) ??
      withoutNonce(own, () => nonce - Number(state.nonce(address, number - 1)))
    return sent ? formatData(sent.hash) : null
  },
})

function hasNonce(transaction: Transaction): boolean {
  return addedType(transaction.type)?.hasNonce(transaction) ?? true
}

/** Of the transactions of a sender in a block, the one after `before` others, if its nonce is not known. Each of them
 *  adds one to the nonce of the sender where there are such transactions: no block before Canyon has an authorization
 *  (EIP-7702). */
function withoutNonce(own: readonly Transaction[], before: () => number): Transaction | undefined {
  if (own.every(hasNonce)) return undefined
  const sent = own[before()]
  return sent === undefined || hasNonce(sent) ? undefined : sent
}

/** @throws StateUnavailable if no stored block contains it and blocks before them may */
function findInIndex({ chain, appearances, deadline }: RpcContext, address: Uint8Array, nonce: number): string | null {
  let found: string | null = null
  const range = { fromBlock: 0, toBlock: Number.MAX_SAFE_INTEGER, newestFirst: false, deadline }
  appearances.search(address, range, ({ blockNumber, indexes }) => {
    const block = chain.blockByNumber(blockNumber)!
    for (const index of indexes) {
      const transaction = chain.transaction(block, index)!
      if (!equalBytes(transaction.from, address) || !hasNonce(transaction) || transaction.nonce < nonce) continue
      if (transaction.nonce === BigInt(nonce)) found = formatData(transaction.hash)
      return false
    }
    return true
  })
  const { first } = chain.coverage()!
  if (found === null && first > 0) throw new StateUnavailable(first - 1)
  return found
}
