import { contractAddress } from '../../chain/starknet/contractAddress.js'
import { curve } from '../../chain/starknet/curve.js'
import { type Felt, formatFelt } from '../../chain/starknet/felt.js'
import { hashMessageToL2 } from '../../chain/starknet/messageHash.js'
import type { PairHasher } from '../../chain/starknet/pedersen.js'
import type { L2Event, L2Message, L2Receipt } from '../../chain/starknet/types.js'
import type { TransactionJson } from './transactionJson.js'

/* TXN_RECEIPT of starknet-specs 0.9. */

/** A receipt without its finality status, and a transaction beside it. */
export interface ReceiptSource {
  readonly receipt: L2Receipt
  readonly transaction: TransactionJson
  /** As recorded, otherwise computed. */
  readonly contractAddress: Felt | undefined
  /** True for a message from layer 1 before messages had nonces. */
  readonly lacksNonce: boolean
}

/** TXN_RECEIPT. A fee and gas that were not recorded are zero. */
export function formatL2Receipt(source: ReceiptSource, finalityStatus: string): object {
  const { receipt, transaction } = source
  const { actualFee = 0n, gasConsumed, messages, events = [], revertReason } = receipt
  return {
    type: transaction.type,
    transaction_hash: formatFelt(receipt.transactionHash),
    actual_fee: { amount: formatFelt(actualFee), unit: transaction.version === '0x3' ? 'FRI' : 'WEI' },
    execution_status: revertReason === undefined ? 'SUCCEEDED' : 'REVERTED',
    ...(revertReason === undefined ? {} : { revert_reason: revertReason }),
    finality_status: finalityStatus,
    messages_sent: messages.map(formatMessage),
    events: events.map(formatEvent),
    execution_resources: {
      l1_gas: Number(gasConsumed?.l1Gas ?? 0n),
      l1_data_gas: Number(gasConsumed?.l1DataGas ?? 0n),
      l2_gas: Number(gasConsumed?.l2Gas ?? 0n),
    },
    ...ownMembers(source),
  }
}

/** Members that receipts of one type have. */
function ownMembers({ transaction, contractAddress: address, lacksNonce }: ReceiptSource): object {
  const { type, nonce, contract_address, entry_point_selector, calldata } = transaction
  if (type === 'L1_HANDLER') {
    const [from, ...payload] = (calldata as string[]).map(BigInt)
    const [to, selector] = [BigInt(contract_address as string), BigInt(entry_point_selector as string)]
    const hash = hashMessageToL2({
      from,
      to,
      selector,
      payload,
      nonce: lacksNonce ? undefined : BigInt(nonce as string),
    })
    return { message_hash: `0x${Buffer.from(hash).toString('hex')}` }
  }
  if (type !== 'DEPLOY' && type !== 'DEPLOY_ACCOUNT') return {}
  return { contract_address: formatFelt(address ?? computeAddress(transaction)) }
}

const hashPairs: PairHasher = (pairs) => pairs.map((pair) => BigInt(curve().pedersen(...pair)))

function computeAddress({ contract_address_salt, class_hash, constructor_calldata }: TransactionJson): Felt {
  const salt = BigInt(contract_address_salt as string)
  const calldata = (constructor_calldata as string[]).map(BigInt)
  return contractAddress({ salt, classHash: BigInt(class_hash as string), calldata }, hashPairs)
}

function formatEvent({ fromAddress, keys, data }: L2Event): object {
  return { from_address: formatFelt(fromAddress), keys: keys.map(formatFelt), data: data.map(formatFelt) }
}

function formatMessage({ fromAddress, toAddress, payload }: L2Message): object {
  return {
    from_address: formatFelt(fromAddress),
    to_address: formatFelt(toAddress),
    payload: payload.map(formatFelt),
  }
}
