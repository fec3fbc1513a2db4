import { isCreation } from '../../chain/eth/callOpcodes.js'
import { StateUnavailable } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { effectiveTraces } from '../../store/rows/placeCalls.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { hash32 } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { accountParam } from '../eth/commonParams.js'
import { orNull } from '../eth/schemas.js'
import { NEITHER_STATE_NOR_INDEX } from './addressPage.js'
import { firstBlockWhere } from './firstBlockWhere.js'
import { ADDRESS_SCHEMA } from './schemas.js'
import { effectiveCalls, traceBlockCalls } from './tracedCalls.js'

export const getContractCreator = defineMethod({
  name: 'ots_getContractCreator',
  summary: 'Who created a contract, and in which transaction; null for other accounts.',
  description:
    'Found in the state history, and in the trace index or by executing transactions of the block again that created it. Null for ' +
    'contracts of the genesis, and for those that are gone. Without state, contracts that a transaction itself created are found in the address index.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [accountParam],
  result: {
    name: 'creator',
    schema: orNull({
      type: 'object',
      properties: { hash: hash32.schema, creator: ADDRESS_SCHEMA },
      required: ['hash', 'creator'],
    }),
  },
  errors: [NEITHER_STATE_NOR_INDEX, ...TRACE_ERRORS],
  handler: async (context, address) => {
    const { chain, state } = context
    const { head, stateFirst } = chain.coverage()!
    if (stateFirst === undefined) return findDirectCreation(context, address)
    const contract = state.contract(address, head)
    if (contract === undefined) return null
    const isSame = (at: number) => state.contract(address, at) === contract
    const number = firstBlockWhere(stateFirst, head, isSame)!
    if (number === 0) return null
    if (number === stateFirst) return findDirectCreation(context, address)
    const block = chain.blockByNumber(number)!
    const indexed = findIndexedCreation(context, block, address)
    if (indexed !== undefined) return indexed
    let creation: Creation | null = null
    for (const { index, root } of await traceBlockCalls(context, block, transactionsOf(context, address, number))) {
      for (const call of effectiveCalls(root)) {
        if (!isCreation(call) || !equalBytes(call.to, address)) continue
        creation = { hash: formatData(chain.transactionHashes(block)[index]), creator: formatData(call.from) }
      }
    }
    return creation
  },
})

interface Creation {
  hash: string
  creator: string
}

/** The last creation at the address that took effect in a block, from the trace index; null if no call created it,
 *  undefined if the index does not have the block. */
function findIndexedCreation(
  { chain, traceIndex }: RpcContext,
  block: StoredBlock,
  address: Uint8Array,
): Creation | null | undefined {
  const id = traceIndex.idOf(address)
  const transactions = traceIndex.calls(block, new Set(id === undefined ? [] : [id]))
  if (transactions === undefined) return undefined
  let creation: Creation | null = null
  for (const [index, calls] of transactions.entries()) {
    for (const call of effectiveTraces(calls)) {
      if (!isCreation(call) || call.to !== id) continue
      const creator = formatData(traceIndex.addressOf(call.from))
      creation = { hash: formatData(chain.transactionHashes(block)[index]), creator }
    }
  }
  return creation
}

/** The first and the last transaction of a block in which the address appears; all without the index. */
function transactionsOf({ appearances, deadline }: RpcContext, address: Uint8Array, blockNumber: number) {
  let indexes: readonly number[] = []
  if (appearances.isComplete()) {
    const range = { fromBlock: blockNumber, toBlock: blockNumber, newestFirst: false, deadline }
    appearances.search(address, range, (block) => {
      indexes = block.indexes
      return false
    })
  }
  return { first: indexes[0], last: indexes.at(-1) }
}

/** A contract created by a transaction itself, from its receipt. @throws StateUnavailable if absent: a call may have
 *  created it */
function findDirectCreation({ chain, appearances, deadline }: RpcContext, address: Uint8Array): Creation {
  const range = { fromBlock: 0, toBlock: Number.MAX_SAFE_INTEGER, newestFirst: true, deadline }
  let creation: Creation | undefined
  appearances.search(address, range, ({ blockNumber, indexes }) => {
    const block = chain.blockByNumber(blockNumber)!
    for (const index of indexes.toReversed()) {
      const { contractAddress, status } = chain.receipt(block, index)!.receipt
      if (status === 0 || contractAddress === undefined || !equalBytes(contractAddress, address)) continue
      const { hash, from } = chain.transaction(block, index)!
      creation = { hash: formatData(hash), creator: formatData(from) }
      return false
    }
    return true
  })
  if (creation === undefined) throw new StateUnavailable(chain.coverage()!.head)
  return creation
}
