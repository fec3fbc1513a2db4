import { EMPTY_BYTES } from '../../../lib/bytes.js'
import { BLOOM_BYTES, bloomOf } from '../bloom.js'
import { decodeReceipt } from '../receipt.js'
import { asList, asUint, DecodeError, decodeRlp, encodeRlp, type RlpItem, underPath } from '../rlp.js'
import type { ConsensusReceipt, TransactionType } from '../types.js'

const MAX_TYPE = 4
const NO_BLOOM = new Uint8Array(BLOOM_BYTES)

/** Returns the RLP of the receipts of a block as ere files have it: a list of [type, status or state root, cumulative
 *  gas, logs] (eth/69, EIP-7642), without blooms. @throws RangeError for a receipt with neither a status nor a root */
export function encodeSlimReceipts(receipts: readonly ConsensusReceipt[]): Uint8Array {
  return encodeRlp(
    receipts.map(({ type, status, root, cumulativeGasUsed, logs }) => {
      if (status === undefined && root === undefined) throw new RangeError('a receipt needs a status or a root')
      const outcome = status === undefined ? root! : status === 1 ? Uint8Array.of(1) : EMPTY_BYTES
      return [
        BigInt(type),
        outcome,
        cumulativeGasUsed,
        logs.map(({ address, topics, data }) => [address, topics, data]),
      ]
    }),
  )
}

/** Returns the receipts of a block from the RLP of their list in an ere file, with blooms computed from their logs.
 *  @throws DecodeError with a path from `receipts` on */
export function decodeSlimReceipts(bytes: Uint8Array): ConsensusReceipt[] {
  return asList(decodeRlp(bytes, 'receipts'), 'receipts').map((item, index) => {
    const path = `receipts[${index}]`
    const { type, consensusList } = splitType(item, path)
    const receipt = decodeReceipt(consensusList, path)
    return { ...receipt, type, logsBloom: bloomOf(receipt.logs) }
  })
}

/** Returns the type, and the list of the consensus form with an empty bloom. */
function splitType(item: RlpItem, path: string) {
  try {
    const [typeItem, outcome, gas, logs] = asList(item, '', 4, 4)
    const type = Number(asUint(typeItem, 1, 'type'))
    if (type > MAX_TYPE) throw new DecodeError('type', `expected 0 to ${MAX_TYPE}, got ${type}`)
    return {
      type: type as TransactionType,
      consensusList: { items: [outcome, gas, NO_BLOOM, logs], raw: EMPTY_BYTES },
    }
  } catch (error) {
    throw underPath(path, error)
  }
}
