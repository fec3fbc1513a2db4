import type { AddedMembers } from '../../chain/eth/families/addedType.js'
import { addedType } from '../../chain/eth/families/addedTypes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block, ConsensusReceipt, Log } from '../../chain/eth/types.js'
import { type Fields, readFields, readTransactionType } from './fields.js'

/** Decodes the consensus part of the receipt of transaction `index` of the block from its object. Does not read what
 *  the receipts root does not cover and the caller derives, such as gas used and price.
 *  @throws DecodeError for a member that cannot be read, and for a receipt of another transaction. */
export function decodeReceiptJson(value: unknown, block: Block, index: number): ConsensusReceipt {
  const fields = readFields(value, `receipts[${index}]`)
  const { fixed, quantity, optional, has } = fields
  fields.requireSame('transactionHash', block.transactions[index].hash)
  fields.requireSame('blockHash', block.hash)
  const status = optional('status', quantity)
  if (status !== undefined && status > 1n) {
    throw new DecodeError(`${fields.path}.status`, `expected 0 or 1, got ${status}`)
  }
  if (status === undefined && !has('root'))
    throw new DecodeError(fields.path, 'expected a status or a root, got neither')
  const type = readTransactionType(fields)
  return {
    type,
    status: status === undefined ? undefined : status === 1n ? 1 : 0,
    root: status === undefined ? fixed('root', 32) : undefined,
    cumulativeGasUsed: quantity('cumulativeGasUsed'),
    logsBloom: fixed('logsBloom', 256),
    logs: fields.array('logs').map((log, i) => readLog(log, `${fields.path}.logs[${i}]`)),
    ...addedType(type)?.readReceiptJson(fields),
  }
}

/** Compares members of a receipt object that Cairn computes with those that it has: quantities, and decimal numbers by
 *  value. Absent members are accepted. @throws DecodeError for the first that differs */
export function requireMembers(fields: Fields, computed: AddedMembers): void {
  for (const [name, expected] of Object.entries(computed)) {
    if (!fields.has(name)) continue
    const actual = fields.member(name)
    const isSame = typeof actual === 'string' && Number(actual) === Number(expected) && sameQuantity(actual, expected)
    if (isSame) continue
    throw new DecodeError(`${fields.path}.${name}`, `expected ${expected}, computed by Cairn, got ${String(actual)}`)
  }
}

/** Quantities beyond 2^53 are compared exactly. */
function sameQuantity(actual: string, expected: AddedMembers[string]): boolean {
  if (typeof expected !== 'string' || !expected.startsWith('0x')) return true
  return /^0x[0-9a-f]+$/i.test(actual) && BigInt(actual) === BigInt(expected)
}

function readLog(value: unknown, path: string): Log {
  const fields = readFields(value, path)
  const topics = fields.hashes('topics')
  if (topics.length > 4) throw new DecodeError(`${path}.topics`, `expected at most 4, got ${topics.length}`)
  return {
    address: fields.fixed('address', 20),
    topics,
    data: fields.data('data'),
  }
}
