import { encodeBlock } from '../../chain/eth/block.js'
import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block, Header, PendingBlock, Withdrawal } from '../../chain/eth/types.js'
import { formatData } from '../../lib/hex.js'
import { type Fields, readFields } from './fields.js'
import { decodeTransactionJson } from './transactionJson.js'

/** Decodes a header from a block object and recomputes its hash by the rules of its chain (undefined: Ethereum).
 *  @throws DecodeError for a member that cannot be read, and at `hash` when it differs. */
export function decodeHeaderJson(
  value: unknown,
  spec?: ChainSpec,
  path = 'block',
): { hash: Uint8Array; header: Header; totalDifficulty?: bigint } {
  const fields = readFields(value, path)
  const header = readHeader(fields)
  const hash = familyOf(spec).hashHeader(header)
  fields.requireSame('hash', hash)
  return { hash, header, totalDifficulty: fields.optional('totalDifficulty', fields.quantity) }
}

/** Decodes the hashes of the uncles that a block object lists, 32 bytes each. @throws DecodeError. */
export function decodeUncleHashes(value: unknown): Uint8Array[] {
  const fields = readFields(value, 'block')
  return fields.optional('uncles', fields.hashes) ?? []
}

/** Decodes a block from a block object with whole transactions, and its uncles, which are separate objects. Recomputes
 *  hashes and senders. Does not compare the parts with the header: see `verifyBodyRoots` in chain/eth/verifyRoots.
 *  @throws DecodeError for a member that cannot be read, or a hash or sender that differs. */
export function decodeBlockJson(value: unknown, uncles: readonly unknown[], spec?: ChainSpec): Block {
  const fields = readFields(value, 'block')
  const { hash, header } = decodeHeaderJson(value, spec)
  const block = {
    header,
    transactions: fields.array('transactions').map((transaction, index) => {
      const at = readFields(transaction, `transactions[${index}]`)
      at.requireSame('blockHash', hash)
      if (at.has('transactionIndex') && at.integer('transactionIndex') !== index) {
        throw new DecodeError(`${at.path}.transactionIndex`, `expected ${index}, got ${at.integer('transactionIndex')}`)
      }
      return decodeTransactionJson(at)
    }),
    uncles: uncles.map((uncle, index) => decodeHeaderJson(uncle, spec, `uncles[${index}]`).header),
    withdrawals: fields.optional('withdrawals', fields.array)?.map(readWithdrawal),
  }
  return { ...block, hash, sizeBytes: encodeBlock(block).length }
}

/** Decodes a node's pending block from its object, in which `hash`, `nonce`, `miner` and `logsBloom` may be null or
 *  absent: they are then zero. Recomputes hashes and senders of the transactions. Does not compare the parts with the
 *  header. @throws DecodeError for a member that cannot be read, or a hash or sender that differs */
export function decodePendingJson(value: unknown): PendingBlock {
  const given = readFields(value, 'block')
  const zero = (name: string, length: number) => (given.has(name) ? {} : { [name]: formatData(new Uint8Array(length)) })
  const absent = { ...zero('nonce', 8), ...zero('miner', 20), ...zero('logsBloom', 256), ...zero('mixHash', 32) }
  return {
    header: readHeader(readFields({ ...(value as object), ...absent }, 'block')),
    transactions: given
      .array('transactions')
      .map((transaction, index) => decodeTransactionJson(readFields(transaction, `transactions[${index}]`))),
    withdrawals: given.optional('withdrawals', given.array)?.map(readWithdrawal),
  }
}

function readHeader({ fixed, quantity, integer, data, optional }: Fields): Header {
  const hash = (name: string) => fixed(name, 32)
  return {
    parentHash: hash('parentHash'),
    unclesHash: hash('sha3Uncles'),
    miner: fixed('miner', 20),
    stateRoot: hash('stateRoot'),
    transactionsRoot: hash('transactionsRoot'),
    receiptsRoot: hash('receiptsRoot'),
    logsBloom: fixed('logsBloom', 256),
    difficulty: quantity('difficulty'),
    number: integer('number'),
    gasLimit: quantity('gasLimit'),
    gasUsed: quantity('gasUsed'),
    timestamp: quantity('timestamp'),
    extraData: data('extraData'),
    mixHash: hash('mixHash'),
    nonce: fixed('nonce', 8),
    baseFeePerGas: optional('baseFeePerGas', quantity),
    withdrawalsRoot: optional('withdrawalsRoot', hash),
    blobGasUsed: optional('blobGasUsed', quantity),
    excessBlobGas: optional('excessBlobGas', quantity),
    parentBeaconBlockRoot: optional('parentBeaconBlockRoot', hash),
    requestsHash: optional('requestsHash', hash),
    blockAccessListHash: optional('blockAccessListHash', hash),
    slotNumber: optional('slotNumber', quantity),
  }
}

function readWithdrawal(value: unknown, index: number): Withdrawal {
  const { quantity, fixed } = readFields(value, `withdrawals[${index}]`)
  return {
    index: quantity('index'),
    validatorIndex: quantity('validatorIndex'),
    address: fixed('address', 20),
    amountGwei: quantity('amount'),
  }
}
