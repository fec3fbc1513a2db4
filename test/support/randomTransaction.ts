import type { UnsignedTransaction } from '../../src/chain/eth/transaction.js'
import type { TransactionType } from '../../src/chain/eth/types.js'
import { concatBytes } from '../../src/lib/bytes.js'
import type { SeededRandom } from './random.js'

/** All types of transactions. */
export const TRANSACTION_TYPES: readonly TransactionType[] = [0, 1, 2, 3, 4]

/** A random transaction of chain 1, the authorizations of type 4 with signatures of no key. */
export function randomUnsigned(random: SeededRandom, type: TransactionType): UnsignedTransaction {
  const big = (limit: number) => BigInt(random.below(limit))
  const accessList = Array.from({ length: random.below(3) }, () => ({
    address: random.bytes(20),
    storageKeys: Array.from({ length: random.below(3) }, () => random.bytes(32)),
  }))
  const authorizationList = Array.from({ length: 1 + random.below(2) }, () => ({
    chainId: big(2),
    address: random.bytes(20),
    nonce: big(2 ** 40),
    yParity: big(2),
    r: 1n + big(2 ** 50),
    s: 1n + big(2 ** 50),
  }))
  const fee = 1n + big(2 ** 40)
  const blobHash = () => concatBytes(Uint8Array.of(1), random.bytes(31))
  return {
    type,
    chainId: type === 0 && random.below(2) === 0 ? undefined : 1n,
    nonce: big(300),
    gasLimit: 1_000_000n + big(1_000_000),
    gasPrice: type < 2 ? fee : undefined,
    maxPriorityFeePerGas: type < 2 ? undefined : fee,
    maxFeePerGas: type < 2 ? undefined : fee * 2n,
    to: type < 3 && random.below(3) === 0 ? undefined : random.bytes(20),
    value: big(2 ** 52) * big(2 ** 52),
    input: random.bytes(random.below(100)),
    ...(type > 0 ? { accessList } : {}),
    ...(type === 3 ? { maxFeePerBlobGas: fee, blobVersionedHashes: [blobHash(), blobHash()] } : {}),
    ...(type === 4 ? { authorizationList } : {}),
  }
}
