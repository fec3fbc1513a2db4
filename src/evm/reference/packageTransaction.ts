import { createTx, type TypedTransaction, type TypedTxData } from '@ethereumjs/tx'
import { Address, type PrefixedHexString } from '@ethereumjs/util'
import type { Transaction } from '../../chain/eth/types.js'
import { bigIntToBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { ReferenceMachine } from './machine.js'

/** Converts to the package's transaction with the sender recovered on decoding: no signature is checked again. @throws
 *  Error in the package's words if a rule of the transaction's own fields is broken. */
export function createPackageTransaction({ common }: ReferenceMachine, transaction: Transaction): TypedTransaction {
  const data = {
    type: transaction.type,
    nonce: transaction.nonce,
    gasLimit: transaction.gasLimit,
    gasPrice: transaction.gasPrice,
    maxFeePerGas: transaction.maxFeePerGas,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
    to: transaction.to && new Address(transaction.to),
    value: transaction.value,
    data: transaction.input,
    chainId: transaction.type === 0 ? undefined : transaction.chainId,
    accessList: transaction.accessList?.map(({ address, storageKeys }) => [address, storageKeys]),
    maxFeePerBlobGas: transaction.maxFeePerBlobGas,
    blobVersionedHashes: transaction.blobVersionedHashes?.map((hash) => formatData(hash) as PrefixedHexString),
    authorizationList: transaction.authorizationList?.map((tuple) => [
      bigIntToBytes(tuple.chainId),
      tuple.address,
      bigIntToBytes(tuple.nonce),
      bigIntToBytes(tuple.yParity),
      bigIntToBytes(tuple.r),
      bigIntToBytes(tuple.s),
    ]),
  } as unknown as TypedTxData
  const created = createTx(data, { common, freeze: false, allowUnlimitedInitCodeSize: true })
  const sender = new Address(transaction.from)
  created.getSenderAddress = () => sender
  created.isSigned = () => true // else the sender is not read, and a transfer to oneself costs full price (EIP-2780)
  return created
}
