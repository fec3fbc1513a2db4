import { type AccountAccess, decodeBlockAccessList, type IndexedChange } from '../../chain/eth/blockAccessList.js'
import { padLeft } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { blockIdOrDecimal, required } from '../core/params.js'
import { BLOCK_ACCESS_LIST_SCHEMA, orNull } from './schemas.js'

export const getBlockAccessList = defineMethod({
  name: 'eth_getBlockAccessList',
  summary: 'Access list of a block (EIP-7928), or null.',
  description:
    'What the block reads and changes: accounts by address, slots by number, changes by the index of their transaction, from 1; ' +
    '0 is before the first one, one more than their number after the last one. Null before Amsterdam. A list that is not stored ' +
    '(`--block-access-lists`) is found by executing the block again, on the state of its parent.',
  cost: 'evm',
  classes: ['traces'],
  params: [required('block', blockIdOrDecimal, 'block number in hex or decimal, tag, hash, or EIP-1898 object')],
  result: { name: 'access list', schema: orNull(BLOCK_ACCESS_LIST_SCHEMA) },
  errors: [BLOCK_UNAVAILABLE, { ...STATE_UNAVAILABLE, when: 'blocks were imported with `--state none`' }],
  handler: ({ chain, evm, deadline }, id) => {
    const block = findBlock(chain, id)
    if (!block) return null
    const stored = chain.blockAccessList(block.header.number)
    if (stored) return decodeBlockAccessList(stored).map(formatAccess)
    return evm.blockAccessList(block.header.number, deadline)?.map(formatAccess) ?? null
  },
})

function formatAccess(access: AccountAccess) {
  const word = (value: Uint8Array) => formatData(padLeft(value, 32))
  const changes = <T>(all: readonly IndexedChange<T>[], format: (value: T) => string) =>
    all.map(({ index, value }) => ({ index: formatQuantity(index), value: format(value) }))
  return {
    address: formatData(access.address),
    storageChanges: access.storageChanges.map(({ slot, changes: values }) => ({
      key: word(slot),
      changes: changes(values, word),
    })),
    storageReads: access.storageReads.map(word),
    balanceChanges: changes(access.balanceChanges, formatQuantity),
    nonceChanges: changes(access.nonceChanges, formatQuantity),
    codeChanges: access.codeChanges.map(({ index, value }) => ({
      index: formatQuantity(index),
      code: formatData(value),
    })),
  }
}
