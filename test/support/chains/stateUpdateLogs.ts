import type { Log } from '../../../src/chain/eth/types.js'
import { LOG_STATE_UPDATE } from '../../../src/chain/starknet/stateUpdate.js'
import { bigIntToFixedBytes, concatBytes } from '../../../src/lib/bytes.js'
import { makeChain } from './l2Blocks.js'

/** The core contract of the tests' chains. */
export const CORE_CONTRACT = new Uint8Array(20).fill(0xce)

/** The layer-2 blocks that the tests' state updates report. */
export const L2_CHAIN = makeChain(0, 30)

/** The log by which a core contract says that layer 1 accepted a layer-2 block. */
export function stateUpdateLog(number: number | bigint, hash: bigint, address = CORE_CONTRACT): Log {
  return { address, topics: [LOG_STATE_UPDATE], data: encodeStateUpdate(number, hash) }
}

/** The data of such a log. */
export function encodeStateUpdate(number: number | bigint, hash: bigint): Uint8Array {
  const word = (value: bigint) => bigIntToFixedBytes(BigInt.asUintN(256, value), 32)
  return concatBytes(word(7n), word(BigInt(number)), word(hash))
}
