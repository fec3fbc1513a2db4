import {
  address,
  type BlockId,
  blockId,
  blockNumberOrTag,
  boolean,
  hash32,
  index,
  optional,
  required,
} from '../core/params.js'

/* Parameters shared by several methods. */

export const blockNumberParam = required('block', blockNumberOrTag, 'block number or tag')
export const blockHashParam = required('blockHash', hash32, 'hash of the block')
export const transactionHashParam = required('transactionHash', hash32, 'hash of the transaction')
export const transactionIndexParam = required('transactionIndex', index, 'index of the transaction in the block')
export const uncleIndexParam = required('uncleIndex', index, "index of the uncle in the block's list")
export const accountParam = required('address', address, 'address of the account')
export const fullTransactionsParam = required(
  'fullTransactions',
  boolean,
  'true: whole transaction objects; false: their hashes only',
)
export const stateBlockParam = optional<BlockId>(
  'block',
  blockId,
  'block number, tag, hash, or EIP-1898 object; `latest` when absent',
  'latest',
)
