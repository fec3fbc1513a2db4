import { encodeTransaction } from '../../chain/eth/transaction.js'
import type { Transaction } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE, requireNoGap } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { defineMethod } from '../core/method.js'
import { data } from '../core/params.js'
import { blockHashParam, blockNumberParam, transactionHashParam, transactionIndexParam } from './commonParams.js'
import { readPendingBlock } from './pendingBlock.js'

const RESULT = { name: 'transaction', schema: data.schema }

export const getRawTransactionByHash = defineMethod({
  name: 'eth_getRawTransactionByHash',
  summary: 'The transaction with that hash in its consensus encoding (EIP-2718).',
  description: '`0x` if it is missing, as in geth. With `--pending` also one of the pending block of the upstream.',
  cost: 'point',
  classes: ['blocks'],
  params: [transactionHashParam],
  result: RESULT,
  errors: [HASH_UNAVAILABLE],
  handler: (context, hash) => {
    const found = findTransaction(context, hash)
    if (!found) requireNoGap(context.chain)
    return formatRaw(found)
  },
})

export const getRawTransactionByBlockHashAndIndex = defineMethod({
  name: 'eth_getRawTransactionByBlockHashAndIndex',
  summary: 'The transaction at that index of the block with that hash in its consensus encoding (EIP-2718).',
  description: '`0x` if it is missing, as in geth.',
  cost: 'point',
  classes: ['blocks'],
  params: [blockHashParam, transactionIndexParam],
  result: RESULT,
  errors: [BLOCK_UNAVAILABLE, HASH_UNAVAILABLE],
  handler: ({ chain }, hash, index) => {
    const block = findBlock(chain, { hash, requireCanonical: false })
    return formatRaw(block && chain.transaction(block, index))
  },
})

export const getRawTransactionByBlockNumberAndIndex = defineMethod({
  name: 'eth_getRawTransactionByBlockNumberAndIndex',
  summary: 'The transaction at that index of the block with that number in its consensus encoding (EIP-2718).',
  description: '`0x` if it is missing, as in geth. The pending block is empty, or that of the upstream (`--pending`).',
  cost: 'point',
  classes: ['blocks'],
  params: [blockNumberParam, transactionIndexParam],
  result: RESULT,
  errors: [BLOCK_UNAVAILABLE],
  handler: (context, id, index) => {
    const block = findBlock(context.chain, id)
    if (!block) return formatRaw(undefined)
    if (id === 'pending') return formatRaw(readPendingBlock(context, block).transactions[index])
    return formatRaw(context.chain.transaction(block, index))
  },
})

function findTransaction(context: RpcContext, hash: Uint8Array): Transaction | undefined {
  const { chain, transactions, upstreamPending } = context
  const location = transactions.locate(hash)
  const block = location && chain.blockByNumber(location.blockNumber)
  const stored = block && chain.transaction(block, location.index)
  return stored ?? upstreamPending()?.transactions.find((each) => equalBytes(each.hash, hash))
}

function formatRaw(transaction: Transaction | undefined): string {
  return transaction ? formatData(encodeTransaction(transaction)) : '0x'
}
