import { EMPTY_REQUESTS_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { encodeTransaction } from '../../../src/chain/eth/transaction.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'

/** A block as a consensus client sends it. */
export interface SentPayload {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** The method of its fork. */
  readonly method: string
  readonly params: readonly unknown[]
}

type Json = { [name: string]: unknown }

/** True for a block whose payload can be made from it: its requests are not part of it. */
export function hasNoRequests({ header: { requestsHash } }: Block): boolean {
  return requestsHash === undefined || equalBytes(requestsHash, EMPTY_REQUESTS_HASH)
}

/** The payload of a block, by the fields of the specification; `blockAccessList`: its RLP; `requests`: each with its
 *  type, as DATA. */
export function payloadOf(
  { header, hash, transactions, withdrawals }: Block,
  blockAccessList?: Uint8Array,
  requests: readonly string[] = [],
): SentPayload {
  const quantity = (value: bigint | number) => formatQuantity(value)
  const payload: Json = {
    parentHash: formatData(header.parentHash),
    feeRecipient: formatData(header.miner),
    stateRoot: formatData(header.stateRoot),
    receiptsRoot: formatData(header.receiptsRoot),
    logsBloom: formatData(header.logsBloom),
    prevRandao: formatData(header.mixHash),
    blockNumber: quantity(header.number),
    gasLimit: quantity(header.gasLimit),
    gasUsed: quantity(header.gasUsed),
    timestamp: quantity(header.timestamp),
    extraData: formatData(header.extraData),
    baseFeePerGas: quantity(header.baseFeePerGas!),
    blockHash: formatData(hash),
    transactions: transactions.map((each) => formatData(encodeTransaction(each))),
  }
  if (withdrawals) {
    payload.withdrawals = withdrawals.map((each) => ({
      index: quantity(each.index),
      validatorIndex: quantity(each.validatorIndex),
      address: formatData(each.address),
      amount: quantity(each.amountGwei),
    }))
  }
  const params: unknown[] = [payload]
  let version = withdrawals ? 2 : 1
  if (header.parentBeaconBlockRoot) {
    payload.blobGasUsed = quantity(header.blobGasUsed!)
    payload.excessBlobGas = quantity(header.excessBlobGas!)
    const hashes = transactions.flatMap(({ blobVersionedHashes }) => blobVersionedHashes ?? [])
    params.push(hashes.map(formatData), formatData(header.parentBeaconBlockRoot))
    version = 3
  }
  if (header.requestsHash) {
    params.push(requests)
    version = 4
  }
  if (header.blockAccessListHash) {
    payload.blockAccessList = formatData(blockAccessList!)
    payload.slotNumber = quantity(header.slotNumber!)
    version = 5
  }
  return {
    number: header.number,
    hash: formatData(hash),
    parentHash: formatData(header.parentHash),
    method: `engine_newPayloadV${version}`,
    params,
  }
}

/** The method of a fork choice for that payload. */
export function forkChoiceOf({ method }: SentPayload): string {
  const version = [1, 2, 3, 3, 4][Number(method.at(-1)) - 1]
  return `engine_forkchoiceUpdatedV${version}`
}
