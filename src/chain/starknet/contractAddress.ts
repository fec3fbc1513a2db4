import { encodeShortString, type Felt } from './felt.js'
import { hashChains } from './hash.js'
import type { PairHasher } from './pedersen.js'

const PREFIX = encodeShortString('STARKNET_CONTRACT_ADDRESS')
const ADDRESS_BOUND = 2n ** 251n - 256n

/** Address of a contract that a DEPLOY or DEPLOY_ACCOUNT transaction creates (Starknet documentation, "Contract
 *  address": the deployer is zero). */
export function contractAddress(
  { salt, classHash, calldata }: { salt: Felt; classHash: Felt; calldata: readonly Felt[] },
  hashPairs: PairHasher,
): Felt {
  const [calldataHash] = hashChains([calldata], hashPairs)
  const [hash] = hashChains([[PREFIX, 0n, salt, classHash, calldataHash]], hashPairs)
  return hash % ADDRESS_BOUND
}
